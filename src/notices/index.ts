import { knownSignInSchema, mutedNoticeSchema } from './notice-schema.ts';

export { createNotices } from './notices.ts';
export type { Notices } from './notices.ts';
export type { NoticeKind } from './notice-kinds.ts';

export const noticeEntities = [mutedNoticeSchema, knownSignInSchema];
