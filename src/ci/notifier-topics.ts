/** What a waiting page or command asks the notifier about. */
export const runTopic = (runId: number): string => `run ${runId}`;
export const logTopic = (taskId: number): string => `log ${taskId}`;
