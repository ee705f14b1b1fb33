export { createMail } from './mail.ts';
export type { Mail, MailOptions } from './mail.ts';
export type { EnqueueMail, NewMail } from './deps.ts';
export type { MailMessage, MailThread } from './message.ts';
export type { QueuedMail } from './mail-queue.ts';
export { layout } from './layout.ts';
export type { MailContent, MailLink, MailPart } from './layout.ts';
