export { announce, announceAhead } from './announce.ts';
export type { AnnounceDeps } from './announce.ts';
export { dueAgain, unpark } from './attempts.ts';
export type { Tries } from './next-try.ts';
export { retryCutOff } from './retry-cut-off.ts';
export type { Listener } from './listener.ts';
export type { EventPlace } from './announced-event.ts';
