import type { Command } from 'commander';
import { conflict, notFound } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { printKeys, programPath, serveShell } from '../sshd-programs.ts';

/** `hearth ssh …`: the helpers of the system's sshd, and the host key of the built-in server. */
export function addSshCommands(program: Command, run: Run): void {
  const ssh = addNoun(program, 'ssh', "helpers for the system's sshd, and the built-in server's host key");
  withExamples(
    ssh
      .command('keys <user> <type> <key>')
      .description('AuthorizedKeysCommand for sshd: print the authorized_keys line of an accepted key')
      .action(
        run((cli, _options: object, user: string, type: string, key: string) =>
          help(cli, printKeys, [user, type, key]),
        ),
      ),
    'AuthorizedKeysCommand /usr/local/bin/hearth ssh keys --data-dir /var/lib/hearth %u %t %k',
  );
  withExamples(
    ssh
      .command('shell <key-id>')
      .description('forced command in that line: forward the session to the running server')
      .action(run((cli, _options: object, keyId: string) => help(cli, serveShell, [keyId]))),
    'restrict,command="/usr/local/bin/hearth ssh shell --data-dir /var/lib/hearth ID" ssh-ed25519 AAAA…',
  );
  const hostkey = addNoun(ssh, 'hostkey', "the built-in server's host key");
  withExamples(
    hostkey.command('show').description('print the fingerprints of the host keys').action(run(showHostKey)),
    'hearth ssh hostkey show',
  );
  withExamples(
    hostkey
      .command('share')
      .description("use this data folder's host keys for all servers of the database")
      .action(run(shareOwnHostKey)),
    'hearth ssh hostkey share',
  );
}

type Helper = typeof printKeys;

/** Only for help: when sshd starts them, runSshHelper handles them before the tree of commands. */
async function help(cli: Cli, helper: Helper, words: string[]): Promise<void> {
  const { config } = await cli.loadConfig();
  cli.exitCode = (await helper(cli.process, {
    words,
    dataDir: config.dataDir,
    program: await programPath(cli.process),
  })) as typeof cli.exitCode;
}

async function showHostKey(cli: Cli): Promise<void> {
  const { config } = await cli.loadConfig();
  const { agreedHostKey, hostKey } = await import('../../ssh/index.ts');
  if (config.database.url !== null) {
    const { sharedKeys } = await cli.openModules();
    if ((await sharedKeys.find('ssh host_ed25519')) !== null)
      return printHostKey(cli, await agreedHostKey(config.dataDir, sharedKeys, await cli.logger()));
  }
  const { existsSync } = await import('node:fs');
  const { join } = await import('node:path');
  if (!existsSync(join(config.dataDir, 'ssh', 'host_ed25519')))
    throw notFound('no_host_key', 'The server does not have a host key yet. It generates one when it first starts.');
  printHostKey(cli, await hostKey(config.dataDir));
}

async function shareOwnHostKey(cli: Cli): Promise<void> {
  const { config } = await cli.loadConfig();
  if (config.database.url === null)
    throw conflict(
      'one_server_only',
      'Only servers on PostgreSQL (database.url) share host keys. This server uses SQLite.',
    );
  const { sharedKeys } = await cli.openModules();
  await cli.confirm("From their next start, all servers present this data folder's host keys. Continue?");
  const { shareHostKey } = await import('../../ssh/index.ts');
  printHostKey(cli, await shareHostKey(config.dataDir, sharedKeys));
}

interface Shown {
  fingerprint: string;
  second: { fingerprint: string };
}

function printHostKey(cli: Cli, { fingerprint, second }: Shown): void {
  cli.output.print(`${fingerprint} (ED25519)\n${second.fingerprint} (ECDSA)\n`, {
    type: 'ssh-ed25519',
    fingerprint,
    further: [{ type: 'ecdsa-sha2-nistp256', fingerprint: second.fingerprint }],
  });
}
