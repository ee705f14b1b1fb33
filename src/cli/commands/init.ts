import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { conflict } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import { configSources } from '../cli.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { systemdUnit } from '../systemd-unit.ts';

/** `hearth init`: what a new installation needs besides the program. */
export function addInitCommand(program: Command, run: Run): void {
  withExamples(
    program.command('init').description('make a settings file and the data folder, and say what to do next')
      .option('--unit', 'only print a unit for systemd')
      .action(run(init)),
    'hearth init --config /etc/hearth/hearth.toml --data-dir /var/lib/hearth',
    'hearth init --unit > /etc/systemd/system/hearth.service',
  );
}

async function init(cli: Cli, { unit }: { unit?: true }): Promise<void> {
  if (unit) return cli.output.print(systemdUnit());
  const [{ exampleFile, loadConfig }, { becomeOwnerOf, prepareDataDir }] = await Promise.all([import('../../config/index.ts'), import('../data-dir.ts')]);
  // The file that --config names is the one to be made.
  const { config } = loadConfig({ ...configSources(cli.process, cli.flags), configPath: undefined });
  const file = path.resolve(cli.process.cwd(), cli.flags.config ?? 'hearth.toml');
  if (existsSync(file)) throw conflict('settings_exist', `${file} is there already; nothing was changed.`);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
  const line = `data_dir = ${JSON.stringify(config.dataDir)}`;
  writeFileSync(file, exampleFile().replace(/^#data_dir = .*$/m, line), { mode: 0o640, flag: 'wx' });
  becomeOwnerOf(config.dataDir, cli.process);
  prepareDataDir(config.dataDir, cli.process);
  cli.output.print(`${file}\n${config.dataDir}\n`, { config: file, dataDir: config.dataDir });
  cli.output.message(`Start it:  hearth serve --config ${file}`);
  cli.output.message('As a service of its own user:');
  cli.output.message('  useradd --system --home-dir /var/lib/hearth --shell /usr/sbin/nologin hearth');
  cli.output.message('  hearth init --unit > /etc/systemd/system/hearth.service');
  cli.output.message('  systemctl daemon-reload && systemctl enable --now hearth && journalctl -u hearth');
}
