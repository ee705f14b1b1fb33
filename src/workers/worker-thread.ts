import { parentPort } from 'node:worker_threads';
import { embedded } from '../embedded/index.ts';
import { serveTasks } from './serve-tasks.ts';
import type { TaskModule } from './serve-tasks.ts';

/** The entry point of each thread of the pool, used nowhere else. */
serveTasks(
  parentPort!,
  (name) => embedded.loadTask(name) as Promise<TaskModule>,
  () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
);
