import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Member } from '../../organisations/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { nameOf } from './find-person.ts';

/** `hearth org member …`: members of an organisation. */
export function addMemberCommands(org: Command, run: Run): void {
  const member = addNoun(org, 'member', "an organisation's members");
  withExamples(
    member.command('list').description('list members').argument('<org>', 'organisation').action(run(listMembers)),
    'hearth org member list acme',
  );
  withExamples(
    member
      .command('add')
      .description('add a member')
      .argument('<org>', 'organisation')
      .argument('<user>', 'username')
      .requiredOption('--role <role>', 'GUEST can read, MEMBER can push, OWNER can manage')
      .action(run(addMember)),
    'hearth org member add acme bob --role MEMBER',
  );
  withExamples(
    member
      .command('role')
      .description('change a member’s role')
      .argument('<org>', 'organisation')
      .argument('<user>', 'username')
      .argument('<role>', 'GUEST, MEMBER or OWNER')
      .action(run(changeRole)),
    'hearth org member role acme bob OWNER',
  );
  withExamples(
    member
      .command('remove')
      .alias('delete')
      .description('remove a member')
      .argument('<org>', 'organisation')
      .argument('<user>', 'username')
      .option('--dry-run', 'only show who would be removed')
      .action(run(removeMember)),
    'hearth org member remove acme bob',
  );
}

const columns: Column<Member>[] = [
  { title: 'USERNAME', cell: ({ person }) => nameOf(person), whole: true },
  { title: 'ROLE', cell: ({ role }) => role },
  { title: 'SINCE', cell: ({ since }) => never(since) },
];

const listMembers: Action<object, [string]> = async (cli, _options, org) => {
  const { organisations } = await cli.openModules();
  cli.output.list(
    await organisations.listMembers(localAdministrator, org),
    columns,
    ['member', 'members'],
    ({ person, role, since }) => ({
      username: person.username,
      role,
      since: isoOrNull(since),
    }),
  );
};

const addMember: Action<{ role: string }, [string, string]> = async (cli, { role }, org, username) => {
  const { organisations } = await cli.openModules();
  await organisations.addMember(localAdministrator, org, { username, role });
  cli.output.result(`${username} is now ${role.toUpperCase()} of ${org}.`, {
    organisation: org,
    username,
    role: role.toUpperCase(),
  });
};

const changeRole: Action<object, [string, string, string]> = async (cli, _options, org, username, role) => {
  const { organisations } = await cli.openModules();
  await organisations.changeMemberRole(localAdministrator, org, { username, role });
  cli.output.result(`${username} is now ${role.toUpperCase()} of ${org}.`, {
    organisation: org,
    username,
    role: role.toUpperCase(),
  });
};

const removeMember: Action<{ dryRun?: true }, [string, string]> = async (cli, { dryRun }, org, username) => {
  const { organisations } = await cli.openModules();
  if (dryRun) {
    const isMember = (await organisations.listMembers(localAdministrator, org)).some(
      ({ person }) => person.username?.toLowerCase() === username.toLowerCase(),
    );
    if (!isMember) throw notFound('member_not_found', `${username} is not a member of ${org}.`);
    return cli.output.result(`Would remove ${username} from ${org}.`, { organisation: org, username });
  }
  await organisations.removeMember(localAdministrator, org, username);
  cli.output.result(
    `Removed ${username} from ${org}. To add them again: hearth org member add ${org} ${username} --role ROLE`,
    { organisation: org, username },
  );
};
