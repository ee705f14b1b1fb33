import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { webAddress } from '../serving/addresses.ts';
import { withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import { findPerson, nameOf } from './find-person.ts';

/** `hearth user invite|reset-link|sign-in-link`: single-use links. */
export function addUserInviteCommand(user: Command, run: Run): void {
  withExamples(
    user
      .command('invite')
      .description('print an invitation link for one user')
      .option('--expires <time>', 'validity period, such as 12h', '7d')
      .option('--email <address>', 'email the invitation to this address, if email is configured')
      .option('--org <name>', 'organisation that the new user joins')
      .option('--role <role>', 'with --org: GUEST, MEMBER or OWNER', 'MEMBER')
      .action(run(invite)),
    'hearth user invite',
    'hearth user invite --expires 2d',
    'hearth user invite --email carol@example.org --org guild',
  );
  withExamples(
    user
      .command('reset-link')
      .description('print a password reset link for a user')
      .argument('<name>', 'username')
      .option('--expires <time>', 'validity period, such as 1h', '24h')
      .action(run(resetLink)),
    'hearth user reset-link alice',
  );
  withExamples(
    user
      .command('sign-in-link')
      .description('print a link that signs a user in, for use while their identity provider is down')
      .argument('<name>', 'user name')
      .option('--expires <time>', 'validity period, such as 1h', '30m')
      .action(run(signInLink)),
    'hearth user sign-in-link alice',
    'hearth user sign-in-link alice --expires 5m',
  );
}

const longestDays = 365;

async function readLifetime(expires: string): Promise<number> {
  const { readDuration } = await import('../../config/index.ts');
  const lifetimeMs = readDuration(expires);
  if (lifetimeMs === undefined || lifetimeMs < 60_000 || lifetimeMs > longestDays * 86_400_000) {
    throw invalid('usage', `--expires must be a duration from 1m to ${longestDays}d, such as 12h.`);
  }
  return lifetimeMs;
}

interface InviteOptions {
  expires: string;
  email?: string;
  org?: string;
  role: string;
}

const invite: Action<InviteOptions, []> = async (cli, { expires, email, org, role }) => {
  const lifetimeMs = await readLifetime(expires);
  const { accounts, organisations, config } = await cli.openModules();
  const input = { lifetimeMs, address: email ?? null };
  const made =
    org === undefined
      ? await accounts.addInvite(null, input)
      : await organisations.invite(localAdministrator, org, { ...input, role });
  const url = `${webAddress(config)}/signup?invite=${encodeURIComponent(made.secret)}`;
  const until = isoOrNull(made.invite.expiresAt);
  const line =
    made.invite.mailedAt === null
      ? `The first person who opens this link before ${until} can create an account:`
      : `Sent the invitation to ${made.invite.address}. If it does not arrive, use this link before ${until}:`;
  const json = { id: made.invite.id, expiresAt: until, url };
  cli.output.secret(url, line, email === undefined ? json : { ...json, address: made.invite.address });
};

const resetLink: Action<{ expires: string }, [string]> = async (cli, { expires }, name) => {
  const lifetimeMs = await readLifetime(expires);
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const { secret, expiresAt } = await modules.accounts.makeResetLink(person.id, { lifetimeMs });
  const url = `${webAddress(modules.config)}/login/reset?token=${encodeURIComponent(secret)}`;
  const until = isoOrNull(expiresAt);
  cli.output.secret(url, `This link sets a new password for ${nameOf(person)}. It works once, until ${until}:`, {
    username: person.username,
    expiresAt: until,
    url,
  });
};

const signInLink: Action<{ expires: string }, [string]> = async (cli, { expires }, name) => {
  const lifetimeMs = await readLifetime(expires);
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const { secret, expiresAt } = await modules.accounts.makeSignInLink(person.id, { lifetimeMs });
  const url = `${webAddress(modules.config)}/login/link?token=${encodeURIComponent(secret)}`;
  const until = isoOrNull(expiresAt);
  cli.output.secret(
    url,
    `This link signs in as ${nameOf(person)}. It works once, until ${until}. Earlier links no longer work:`,
    {
      username: person.username,
      expiresAt: until,
      url,
    },
  );
};
