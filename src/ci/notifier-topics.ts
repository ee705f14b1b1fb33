/** Topics of the notifier on which pages and commands wait. */
export const runTopic = (runId: number): string => `run ${runId}`;
export const logTopic = (taskId: number): string => `log ${taskId}`;
