import { statSync } from 'node:fs';
import { chown, readFile, rename, writeFile } from 'node:fs/promises';
import type { TomlValue } from '../../config/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { withHint } from '../report-error.ts';

/**
 * Writes one setting to the settings file in use, atomically by a rename, and reports if an environment variable
 * overrides it. Throws `no_settings_file`, `invalid_settings_file`.
 * @param key an option key
 * @returns the path of the file
 */
export async function changeSettingsFile(cli: Cli, key: string, value: TomlValue): Promise<string> {
  const [{ options, setInFile }, { file, origins }] = await Promise.all([
    import('../../config/index.ts'),
    cli.loadConfig(),
  ]);
  const variable = options.find((option) => option.key === key)!.env;
  if (file === null || file === undefined)
    throw withHint(
      notFound('no_settings_file', 'No settings file is in use, so there is no file to change.'),
      `hearth config example > hearth.toml, or set ${variable}=${String(value)}`,
    );
  const fresh = `${file.path}.new`;
  const { mode, uid, gid } = statSync(file.path);
  await writeFile(fresh, setInFile(await readFile(file.path, 'utf8'), key, value), { mode });
  // With sudo, keeps the owner: the service must still be able to read it.
  if (cli.process.getuid?.() === 0) await chown(fresh, uid, gid);
  await rename(fresh, file.path);
  if (origins.get(key)?.kind === 'environment')
    cli.output.message(`The environment variable ${origins.get(key)!.name} still overrides it.`);
  return file.path;
}
