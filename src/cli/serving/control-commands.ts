import { once } from 'node:events';
import type { LiveConfig, LoadedConfig } from '../../config/index.ts';
import type { ControlCommand } from '../../control/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { LogTail } from './log-tail.ts';

const levels = ['debug', 'info', 'warn', 'error'];

interface Needs {
  tail: LogTail;
  /** Reloads the settings. */
  reload(): Promise<object>;
}

/** The control commands of a running `hearth serve`, in addition to those of the modules. */
export function controlCommands({ tail, reload }: Needs): Record<string, ControlCommand> {
  return {
    async reload(_parameters, { output }) {
      output.write(JSON.stringify(await reload()));
      return 0;
    },

    /** Lines of JSON, oldest first: the last `lines` at `level` or above; with `follow`, then new ones. */
    async 'log.tail'(parameters, { output, signal, closing }) {
      const least = levels.indexOf(String(parameters['level'] ?? 'debug'));
      const isWanted = (line: string): boolean =>
        levels.indexOf((JSON.parse(line) as { level: string }).level) >= least;
      const count = Number(parameters['lines'] ?? 50);
      const recent = tail.recent().filter(isWanted);
      for (const line of count === 0 ? [] : recent.slice(-count)) output.write(line);
      if (parameters['follow'] !== true) return 0;
      const end = AbortSignal.any([signal, closing]);
      const stop = tail.follow((line) => {
        // A slow reader loses lines instead of using memory.
        if (!output.destroyed && !output.writableNeedDrain && isWanted(line)) output.write(line);
      });
      if (!end.aborted) await once(end, 'abort');
      stop();
      return 0;
    },
  };
}

/**
 * Reloads the settings, for SIGHUP and `hearth reload`. Invalid settings change nothing. Returns what was applied and
 * what needs a restart.
 */
export function createReload({
  live,
  load,
  logger,
  setLevel,
}: {
  live: LiveConfig;
  load(): Promise<LoadedConfig>;
  logger(): Logger;
  setLevel(level: LoadedConfig['config']['log']['level']): void;
}): () => Promise<object> {
  return async () => {
    const fresh = await load().catch((error: unknown) => {
      logger().error('config.reload_refused', { error });
      throw error;
    });
    const outcome = live.apply(fresh);
    if (outcome.applied.includes('log.level')) setLevel(live.config.log.level);
    logger().info('config.reloaded', { ...outcome });
    return outcome;
  };
}
