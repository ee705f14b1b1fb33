export { announce, announceAhead } from './announce.ts';
export type { AnnounceDeps } from './announce.ts';
export { beginAnnouncement, lastTryAfterMs, maxAttempts, unpark } from './attempts.ts';
export type { Listener } from './listener.ts';
export type { AnnouncementTables, EventPlace, Subject } from './announced-event.ts';
