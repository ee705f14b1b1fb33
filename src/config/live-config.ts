import { configValue, fieldName } from './config.ts';
import type { Config } from './config.ts';
import type { LoadedConfig } from './load-config.ts';
import { options } from './options.ts';

/** Options that a running server applies on reload: callers read them at each use. */
const changeable: ReadonlySet<string> = new Set([
  'log.level',
  'storage.low_disk_floor',
  'repositories.push_to_create',
  'repositories.trash_keep',
  'ssh.public_host',
  'ssh.public_port',
  'metrics.token',
]);

/** The result of a reload: option keys. */
interface ReloadedSettings {
  applied: string[];
  /** Changed, but in effect only after a restart. */
  needRestart: string[];
}

export interface LiveConfig {
  readonly config: Config;
  /** Applies the options that can change while the server runs. */
  apply(fresh: LoadedConfig): ReloadedSettings;
}

/** The settings of a running server, some of which can be reloaded. */
export function createLiveConfig({ config: first }: LoadedConfig): LiveConfig {
  // Lists and addresses inside stay frozen: only whole values are replaced.
  const config = Object.fromEntries(
    Object.entries(first).map(([name, value]) => [name, isSection(value) ? { ...value } : value]),
  ) as unknown as Config;

  return {
    config,
    apply({ config: fresh }) {
      const changed = options.filter((option) => !isSame(configValue(config, option), configValue(fresh, option)));
      const [applied, needRestart] = [
        changed.filter(({ key }) => changeable.has(key)),
        changed.filter(({ key }) => !changeable.has(key)),
      ];
      for (const option of applied) {
        const [section = '', name = ''] = option.key.split('.');
        (config as unknown as Record<string, Record<string, unknown>>)[section]![fieldName(name, option.type.suffix)] =
          configValue(fresh, option);
      }
      return { applied: applied.map(({ key }) => key), needRestart: needRestart.map(({ key }) => key) };
    },
  };
}

function isSection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
