import type { ControlCommand } from '../control/index.ts';
import type { Scheduler } from './scheduler.ts';

/** Control commands about the scheduled tasks of the running server. */
export function schedulerControlCommands(schedule: Scheduler): Record<string, ControlCommand> {
  return {
    /** Returns the next times by name, as JSON. */
    async 'cron.next'(_parameters, { output }) {
      output.write(JSON.stringify(Object.fromEntries(schedule.next())));
      return 0;
    },
    /**
     * Returns `{tookMs, error}` as JSON, or `{elsewhere: true}` where another node runs it; exit code 3 for an unknown
     * task.
     */
    async 'cron.run'(parameters, { output }) {
      const outcome = await schedule.runNow(String(parameters['name']));
      if (outcome === 'unknown') return 3;
      if (outcome === 'elsewhere') {
        output.write(JSON.stringify({ elsewhere: true }));
        return 0;
      }
      const { tookMs, error } = outcome;
      output.write(
        JSON.stringify({
          tookMs: Math.round(tookMs),
          error: error === null ? null : error instanceof Error ? error.message : String(error),
        }),
      );
      return 0;
    },
  };
}
