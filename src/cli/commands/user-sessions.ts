import type { Command } from 'commander';
import type { Session } from '../../accounts/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findById } from './find-by-id.ts';
import { findPerson, nameOf } from './find-person.ts';

/** `hearth user sessions`: lists and ends the sessions of a user. */
export function addUserSessionsCommand(user: Command, run: Run): void {
  withExamples(
    user
      .command('sessions')
      .description("list or end a user's sessions")
      .argument('<name>', 'username')
      .option('--revoke [id]', 'end one session, or all sessions')
      .option('--dry-run', 'with --revoke: only show which sessions would end')
      .action(run(sessions)),
    'hearth user sessions alice',
    'hearth user sessions alice --revoke',
  );
}

const columns: Column<Session>[] = [
  { title: 'ID', cell: ({ id }) => ({ id }) },
  { title: 'STARTED', cell: ({ createdAt }) => never(createdAt) },
  { title: 'LAST SEEN', cell: ({ lastSeenAt }) => never(lastSeenAt) },
  { title: 'ADDRESS', cell: ({ address }) => address },
  { title: 'CLIENT', cell: ({ userAgent }) => userAgent },
  { title: 'SIGNED IN WITH', cell: ({ method, factor }) => (factor === null ? method : `${method}+${factor}`) },
];

export const sessionToJson = ({
  id,
  createdAt,
  lastSeenAt,
  endsAt,
  address,
  userAgent,
  method,
  factor,
}: Session): object => ({
  id,
  startedAt: isoOrNull(createdAt),
  lastSeenAt: isoOrNull(lastSeenAt),
  endsAt: isoOrNull(endsAt),
  method,
  factor,
  address,
  client: userAgent,
});

const sessions: Action<{ revoke?: string | true; dryRun?: true }, [string]> = async (cli, { revoke, dryRun }, name) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const rows = await modules.accounts.listSessions(person.id);
  if (revoke === undefined) return cli.output.list(rows, columns, ['session', 'sessions'], sessionToJson);
  const ending = revoke === true ? rows : [findById(rows, revoke, { what: 'session', reason: 'unknown_session' })];
  const what = `${ending.length} ${ending.length === 1 ? 'session' : 'sessions'} of ${nameOf(person)}`;
  if (dryRun) return cli.output.result(`Would end ${what}.`, { revoked: ending.map(sessionToJson) });
  for (const { id } of ending) await modules.accounts.revokeSession(person.id, id);
  cli.output.result(`Ended ${what}. Keys and tokens keep working.`, { revoked: ending.map(sessionToJson) });
};
