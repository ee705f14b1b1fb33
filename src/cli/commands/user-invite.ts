import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { webAddress } from '../serving/addresses.ts';
import { isoOrNull } from '../terminal/output.ts';

/** `hearth user invite`: prints an invitation link. */
export function addUserInviteCommand(user: Command, run: Run): void {
  withExamples(
    user
      .command('invite')
      .description('print an invitation link for one person')
      .option('--expires <time>', 'validity, for example 12h', '7d')
      .action(run(invite)),
    'hearth user invite',
    'hearth user invite --expires 2d',
  );
}

const longestDays = 365;

const invite: Action<{ expires: string }, []> = async (cli, { expires }) => {
  const { readDuration } = await import('../../config/index.ts');
  const lifetimeMs = readDuration(expires);
  if (lifetimeMs === undefined || lifetimeMs < 60_000 || lifetimeMs > longestDays * 86_400_000) {
    throw invalid('usage', `--expires is a duration from 1m to ${longestDays}d, such as 12h.`);
  }
  const { accounts, config } = await cli.openModules();
  const made = await accounts.addInvite(null, { lifetimeMs });
  const url = `${webAddress(config)}/signup?invite=${encodeURIComponent(made.secret)}`;
  cli.output.secret(
    url,
    `The first person who opens this link can create an account, until ${isoOrNull(made.invite.expiresAt)}:`,
    {
      id: made.invite.id,
      expiresAt: isoOrNull(made.invite.expiresAt),
      url,
    },
  );
};
