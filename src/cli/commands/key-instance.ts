import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { counted } from '../terminal/output.ts';

/** `hearth key instance --rotate`: the key that encrypts the secrets in the database. */
export function addInstanceKeyCommand(key: Command, run: Run): void {
  withExamples(
    key
      .command('instance')
      .description('replace the key that encrypts stored secrets; all servers must be stopped')
      .option('--rotate', 'generate a new key and encrypt every secret with it')
      .option('--adopt', 'continue with the key in this data folder when the former key is lost')
      .action(run(changeKey)),
    'hearth key instance --rotate',
    'hearth key instance --adopt',
  );
}

async function changeKey(cli: Cli, { rotate, adopt }: { rotate?: true; adopt?: true }): Promise<void> {
  if ((rotate ?? false) === (adopt ?? false)) throw invalid('usage', 'Use --rotate or --adopt.');
  return rotate === undefined ? adoptKey(cli) : rotateKey(cli);
}

async function adoptKey(cli: Cli): Promise<void> {
  const { config } = await cli.loadConfig();
  const { adoptInstanceKey } = await import('../../app/index.ts');
  await cli.confirm(
    'Continue with the instance key in this data folder? Secrets encrypted with another key remain unreadable and must be set again. SSH clients will warn about changed host keys.',
  );
  const forgotten = await adoptInstanceKey(config, { logger: await cli.logger(), clock: cli.clock }, () =>
    cli.openModules(),
  );
  cli.output.result('The next server that starts will store its instance key for this database.', { forgotten });
}

async function rotateKey(cli: Cli): Promise<void> {
  const { config } = await cli.loadConfig();
  const [{ rotateInstanceKey, signOfInstance }, { dropPrivilegesToOwnerOf, requireDataDir }, { takeInstanceLock }] =
    await Promise.all([import('../../app/index.ts'), import('../data-dir.ts'), import('../serving/instance-lock.ts')]);
  requireDataDir(config.dataDir, signOfInstance(config), 'the settings');
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  const lock = takeInstanceLock(config.dataDir, { hint: 'stop it first: it would encrypt with the former key' });
  try {
    await cli.confirm(
      'Replace the instance key? Older backups can only be read with the former key. Links in sent emails and tokens of running jobs stop working.',
    );
    const { reencrypted, resumed } = await rotateInstanceKey(
      config,
      { logger: await cli.logger(), clock: cli.clock },
      () => cli.openModules(),
    );
    const what = counted(reencrypted, 'secret', 'secrets');
    cli.output.result(
      resumed
        ? `Completed an interrupted key rotation: ${what} encrypted with the new key.`
        : `Replaced the instance key: ${what} encrypted with the new key. Create a backup --with-keys now.`,
      { reencrypted, resumed },
    );
  } finally {
    lock.release();
  }
}
