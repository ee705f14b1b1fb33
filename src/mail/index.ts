export { createMail } from './mail.ts';
export type { Mail } from './mail.ts';
export type { MailMessage } from './message.ts';
export type { QueuedMail } from './mail-queue.ts';
export { layout } from './layout.ts';
export type { MailContent, MailPart } from './layout.ts';
