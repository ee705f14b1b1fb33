export { createSchedule } from './schedule.ts';
export type { Job, Schedule } from './schedule.ts';
