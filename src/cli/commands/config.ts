import type { Command } from 'commander';
import type { TomlValue } from '../../config/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { withHint } from '../report-error.ts';
import { changeSettingsFile } from './change-settings-file.ts';
import { configSources } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import type { Run } from '../action.ts';

/** `hearth config …`: the settings and their sources. */
export function addConfigCommands(program: Command, run: Run): void {
  const config = addNoun(program, 'config', 'settings');
  withExamples(
    config
      .command('show')
      .description('show the effective value of every setting')
      .option('--origin', 'show where each value comes from')
      .action(run(showConfig)),
    'hearth config show --origin',
  );
  withExamples(
    config
      .command('get')
      .description('print the effective value of one setting')
      .argument('<key>', 'key in the settings file, such as git.read_slots')
      .action(run(getSetting)),
    'hearth config get base_url',
  );
  withExamples(
    config
      .command('set')
      .description('change a setting in the settings file; comments are kept')
      .argument('<key>', 'key in the settings file, such as git.read_slots')
      .argument('<value>', 'value as in the environment variable; separate list items with commas')
      .action(run(setSetting)),
    'hearth config set base_url https://git.example.org',
    'hearth config set mirrors.allowed_hosts git.example.lan,192.168.1.5:3000',
  );
  withExamples(
    config.command('check').description('validate the settings').action(run(checkSettings)),
    'hearth config check --config /etc/hearth/hearth.toml',
  );
  withExamples(
    config.command('path').description('print the path of the settings file').action(run(printPath)),
    'hearth config path',
  );
  withExamples(
    config
      .command('example')
      .description('print a settings file with all options and their defaults')
      .action(run(printExample)),
    'hearth config example > hearth.toml',
  );
}

interface Setting {
  key: string;
  value: unknown;
  text: string;
  origin: string;
}

async function showConfig(cli: Cli, { origin: withOrigin }: { origin?: true }): Promise<void> {
  const { configValue, options } = await import('../../config/index.ts');
  const { config, origins, file } = await cli.loadConfig();
  const settings = options.map((option): Setting => {
    const value = configValue(config, option);
    const hidden = 'secret' in option && value !== null;
    const { kind = 'default', name } = origins.get(option.key) ?? {};
    const line = kind === 'file' ? `:${file?.lineOf(option.key)}` : '';
    return {
      key: option.key,
      value: hidden ? '••••' : value,
      text: hidden ? '••••' : value === null ? '' : option.type.toText(value as never),
      origin: kind === 'flag' ? 'flag' : kind === 'default' ? 'default' : `${kind} ${name}${line}`,
    };
  });
  const columns: Column<Setting>[] = [
    { title: 'KEY', cell: (row) => row.key, whole: true },
    { title: 'VALUE', cell: (row) => row.text },
    ...(withOrigin ? [{ title: 'ORIGIN', cell: (row: Setting) => row.origin }] : []),
  ];
  cli.output.list(settings, columns, ['setting', 'settings'], ({ key, value, origin }) => ({
    key,
    value,
    ...(withOrigin ? { origin } : {}),
  }));
}

/** Throws `unknown_setting`. */
async function findOption(key: string) {
  const { nearestName, options } = await import('../../config/index.ts');
  const option = options.find((each) => each.key === key);
  if (option !== undefined) return option;
  const near = nearestName(
    key,
    options.map((each) => each.key),
  );
  const error = notFound('unknown_setting', `The setting ${key} does not exist.`);
  throw near === null ? error : withHint(error, `did you mean ${near}?`);
}

/** Neither this command nor `config show` prints secrets, since output ends up in logs. */
async function getSetting(cli: Cli, _options: object, key: string): Promise<void> {
  const option = await findOption(key);
  const { configValue } = await import('../../config/index.ts');
  const value = configValue((await cli.loadConfig()).config, option);
  const hidden = 'secret' in option && value !== null;
  const text = value === null ? '' : option.type.toText(value as never);
  cli.output.print(`${hidden ? '••••' : text}\n`, { key, value: hidden ? '••••' : value });
}

/** Throws `unknown_setting`, `config_bad_value`, and as `changeSettingsFile` does, without writing anything. */
async function setSetting(cli: Cli, _options: object, key: string, text: string): Promise<void> {
  const option = await findOption(key);
  const raw = option.type.fromText(text);
  if (option.type.read(raw) === undefined)
    throw invalid(
      'config_bad_value',
      `${'secret' in option && option.secret ? 'The value' : JSON.stringify(text)} is not allowed for ${key}: it must be ${option.type.expects}.`,
    );
  const file = await changeSettingsFile(cli, key, raw as TomlValue);
  const shown = 'secret' in option && option.secret ? '••••' : JSON.stringify(raw);
  cli.output.result(
    `Set ${key} = ${shown} in ${file}. To apply it to a running server, run hearth reload, which also shows whether a restart is needed.`,
    {
      file,
      key,
    },
  );
}

async function checkSettings(cli: Cli): Promise<void> {
  const { checkConfig } = await import('../../config/index.ts');
  const { problems, loaded } = checkConfig(configSources(cli.process, cli.flags));
  for (const warning of loaded?.warnings ?? []) cli.output.message(`warning: ${warning}`);
  if (loaded === null) cli.exitCode = 5;
  cli.output.print(loaded === null ? problems.map(({ where, message }) => `${where}: ${message}\n`).join('') : 'ok\n', {
    ok: loaded !== null,
    problems,
    warnings: loaded?.warnings ?? [],
  });
}

async function printPath(cli: Cli): Promise<void> {
  const { searchPaths } = await import('../../config/index.ts');
  const sources = configSources(cli.process, cli.flags);
  const searched = searchPaths(sources);
  const { file } = await cli.loadConfig();
  const path = file?.path ?? null;
  if (path === null) cli.output.message(`No settings file found. Searched: ${searched.join(', ')}`);
  cli.output.print(path === null ? '' : `${path}\n`, { path, searched });
}

async function printExample(cli: Cli): Promise<void> {
  const { exampleFile } = await import('../../config/index.ts');
  cli.output.print(exampleFile());
}
