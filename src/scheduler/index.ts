export { schedulerControlCommands } from './control-commands.ts';
export { importControlCommands } from './import-control-commands.ts';
export { createTaskRuns } from './task-runs.ts';
export { packingControlCommands, storageControlCommands, packRepositories } from './pack-repositories.ts';
export { pushControlCommands } from './push-control-commands.ts';
export { createScheduler } from './scheduler.ts';
export type { CronTask, Scheduler } from './scheduler.ts';
