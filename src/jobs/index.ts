export { jobPrograms } from './job-programs.ts';
export { createJobRuns } from './job-runs.ts';
export type { JobRun, JobRuns } from './job-runs.ts';
export { packingPrograms, packRepositories } from './pack-repositories.ts';
export { pushPrograms } from './push-programs.ts';
export { createSchedule } from './schedule.ts';
export type { Job, JobOutcome, Schedule } from './schedule.ts';
