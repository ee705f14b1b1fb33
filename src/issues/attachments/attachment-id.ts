import { notFound } from '../../kernel/index.ts';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const mayBeId = (id: string): boolean => uuid.test(id);

export const attachmentNotFound = () => notFound('attachment_not_found', 'File not found');
