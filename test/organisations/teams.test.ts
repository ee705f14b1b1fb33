// Teams of organisations: who knows of them, what they give, and what ends it.
import t from 'tap';
import { anonymous, localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer, Viewer } from '../../src/access/index.ts';
import { openModules, reasonOf, viewerOf } from '../repositories/repositories-fixture.ts';
import type { TestModules } from '../repositories/repositories-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

const team = { organisation: 'example', name: 'reviewers' };
const hidden = { owner: 'example', name: 'hidden' };

interface Example extends TestModules {
  /** In the team, and in no organisation. */
  dave: PersonViewer;
  outsider: PersonViewer;
}

/** `example`: alice OWNER, bob MEMBER, carol GUEST; the team `reviewers` with dave writes to `example/hidden`. */
async function openExample(t: Owner): Promise<Example> {
  const modules = await openModules(t);
  const { organisations, repositories, accounts, alice } = modules;
  await organisations.create(alice, { name: 'example' });
  await organisations.addMember(alice, 'example', { username: 'bob', role: 'MEMBER' });
  await organisations.addMember(alice, 'example', { username: 'carol', role: 'guest' });
  const dave = viewerOf(await accounts.addPerson({ username: 'dave' }));
  const outsider = viewerOf(await accounts.addPerson({ username: 'outsider' }));
  for (const name of ['hidden', 'other'])
    await repositories.create(alice, { owner: 'example', name, visibility: 'PRIVATE' });
  await organisations.teams.create(alice, 'example', { name: 'Reviewers', description: 'They read.', role: 'write' });
  await organisations.teams.addMember(alice, team, 'dave');
  await repositories.teams.setRole(alice, team, hidden, null);
  return { ...modules, dave, outsider };
}

const levelOf = async ({ repositories }: TestModules, viewer: Viewer, { owner, name } = hidden): Promise<string> =>
  repositories.find(viewer, owner, name).then(
    ({ level }) => level,
    () => 'none',
  );

t.test('a team gives its people the role in its repositories, and nothing elsewhere', async (t) => {
  const example = await openExample(t);
  const { repositories, organisations, alice, carol, dave, outsider } = example;
  t.equal(await levelOf(example, dave), 'write');
  t.equal(await levelOf(example, dave, { owner: 'example', name: 'other' }), 'none');
  t.equal(await levelOf(example, outsider), 'none');
  t.equal(await organisations.roleOf(dave.id, (await organisations.find('example')).id), null, 'no member by it');
  t.same(
    (await repositories.list(dave, { limit: 10 })).repositories.map(({ name }) => name),
    ['hidden'],
  );
  await organisations.teams.addMember(alice, team, 'carol');
  t.equal(await levelOf(example, carol), 'write', 'the higher of GUEST and the team');
  await repositories.teams.setRole(alice, team, hidden, 'ADMIN');
  t.equal(await levelOf(example, dave), 'admin');
  t.match(await repositories.collaborators.explainAccess(dave, 'example', 'hidden'), { reason: 'team admin' });
  await repositories.teams.setRole(alice, team, hidden, 'read');
  t.equal(await levelOf(example, dave), 'read');
  t.equal(await levelOf(example, { ...dave, via: 'token', repositoryIds: [] }), 'none');
});

t.test('the highest role of more teams than a look-up returns counts', async (t) => {
  const example = await openExample(t);
  const { repositories, organisations, alice, dave } = example;
  for (let number = 0; number < 20; number += 1) {
    const name = `team${number}`;
    await organisations.teams.create(alice, 'example', { name });
    await organisations.teams.addMember(alice, { organisation: 'example', name }, 'dave');
    await repositories.teams.setRole(
      alice,
      { organisation: 'example', name },
      hidden,
      number === 19 ? 'admin' : 'read',
    );
  }
  t.equal(await levelOf(example, dave), 'admin');
});

t.test('members of the organisation and the people of a team know of it; to others it is absent', async (t) => {
  const { organisations, repositories, alice, bob, carol, dave, outsider } = await openExample(t);
  const { teams } = organisations;
  const absent = await teams.find(outsider, { organisation: 'example', name: 'nothing' }).catch(String);
  for (const viewer of [anonymous, outsider, { ...dave, via: 'token', repositoryIds: [] } as const]) {
    t.equal(await teams.find(viewer, team).catch(String), absent, 'the same words as for an absent one');
    t.equal(await reasonOf(teams.list(viewer, 'example')), 'organisation_not_found');
    t.equal(await reasonOf(teams.members(viewer, team)), 'team_not_found');
    t.equal(await reasonOf(repositories.teams.listOfTeam(viewer, team)), 'team_not_found');
  }
  const { serial } = (await teams.find(alice, team)).team;
  t.equal(await reasonOf(teams.find(outsider, serial)), 'team_not_found', 'by its integer, too');
  for (const viewer of [alice, bob, carol, dave, localAdministrator])
    t.match(await teams.list(viewer, 'EXAMPLE'), [{ name: 'Reviewers', people: 1, serial }]);
  await teams.create(alice, 'example', { name: 'secret' });
  t.same(
    (await teams.list(dave, 'example')).map(({ name }) => name),
    ['Reviewers'],
    'people who are no members know of their own alone',
  );
  t.match(await teams.ofPerson(dave.id), [{ team: { name: 'Reviewers' }, organisation: { name: 'example' } }]);
});

t.test('OWNERs manage teams, and the command line; members and the people of a team do not', async (t) => {
  const { organisations, repositories, alice, bob, carol, dave, outsider } = await openExample(t);
  const { teams } = organisations;
  const acts: Record<string, (viewer: Viewer) => Promise<unknown>> = {
    create: (viewer) => teams.create(viewer, 'example', { name: 'x', role: 'king' }),
    edit: (viewer) => teams.edit(viewer, team, { role: 'king' }),
    addMember: (viewer) => teams.addMember(viewer, team, 'dave'),
    removeMember: (viewer) => teams.removeMember(viewer, team, 'alice'),
    setRole: (viewer) => repositories.teams.setRole(viewer, team, hidden, 'king'),
    removeRole: (viewer) => repositories.teams.removeRole(viewer, team, { owner: 'example', name: 'other' }),
    delete: (viewer) => teams.delete(viewer, { organisation: 'example', name: 'reviewers' }),
  };
  for (const [name, act] of Object.entries(acts)) {
    for (const viewer of [anonymous, outsider, bob, carol, dave])
      t.match(await reasonOf(act(viewer)), /^(?:organisation|team)_not_found$/, name);
    t.equal(await reasonOf(act({ ...alice, via: 'token', scope: 'write' })), 'insufficient_scope', name);
    t.match(await reasonOf(act({ ...alice, via: 'token', repositoryIds: [] })), /not_found$|insufficient_scope/, name);
    if (name !== 'delete')
      t.match(
        await reasonOf(act(alice)),
        /^(?:invalid_role|already_team_member|team_member_not_found|team_repository_not_found)$/,
        name,
      );
  }
  t.equal(await reasonOf(acts['delete']!(localAdministrator)), 'accepted');
  t.equal(await reasonOf(teams.find(alice, team)), 'team_not_found');
});

t.test('names of teams are checked, are unique in their organisation, and may change', async (t) => {
  const { organisations, alice } = await openExample(t);
  const { teams } = organisations;
  const created = (name: string) => reasonOf(teams.create(alice, 'example', { name }));
  for (const name of ['', 'two words', 'new', 'owners', 'Owners', '-a', 'a/b', 'x'.repeat(40)])
    t.equal(await created(name), 'invalid_team_name', name);
  t.equal(await created('REVIEWERS'), 'team_name_taken');
  t.equal(await created('builders'), 'accepted');
  t.equal(await reasonOf(teams.edit(alice, { ...team, name: 'builders' }, { name: 'reviewers' })), 'team_name_taken');
  t.equal(
    await reasonOf(teams.edit(alice, { ...team, name: 'builders' }, { name: 'OWNERS' })),
    'invalid_team_name',
    'the name of the role in the API',
  );
  t.equal((await teams.edit(alice, team, { name: 'Readers' })).name, 'Readers');
  t.equal(await reasonOf(teams.find(alice, team)), 'team_not_found');
  await organisations.create(alice, { name: 'another' });
  t.ok(await teams.create(alice, 'another', { name: 'readers' }), 'another organisation has its own names');
  t.equal(
    await reasonOf(teams.edit(alice, { organisation: 'example', name: 'readers' }, { role: 'x' })),
    'invalid_role',
  );
});

t.test('who leaves, is removed or deleted loses what the team gave, and so do all when it goes', async (t) => {
  const example = await openExample(t);
  const { organisations, repositories, accounts, alice, carol, dave } = example;
  await organisations.teams.addMember(alice, team, 'carol');
  await organisations.removeMember(alice, 'example', 'carol');
  t.equal(await levelOf(example, carol), 'none', 'the end of the membership ends the places in teams');
  await organisations.teams.leave(dave, team);
  t.equal(await levelOf(example, dave), 'none');
  t.equal(await reasonOf(organisations.teams.leave(dave, team)), 'team_not_found');
  await organisations.teams.addMember(alice, team, 'dave');
  await repositories.teams.removeRole(alice, team, hidden);
  t.equal(await levelOf(example, dave), 'none');
  await repositories.teams.setRole(alice, team, hidden, 'write');
  t.equal(await levelOf(example, dave), 'write');
  await organisations.rename(alice, 'example', 'renamed');
  await repositories.rename(alice, 'renamed', 'hidden', 'shown');
  t.equal(await levelOf(example, dave, { owner: 'renamed', name: 'shown' }), 'write', 'names do not matter');
  const moved = await repositories.transfers.start(alice, 'renamed', 'shown', 'alice');
  t.equal(moved.kind, 'transferred');
  t.equal(await levelOf(example, dave, { owner: 'alice', name: 'shown' }), 'none', 'a transfer ends it');
  await repositories.transfers.start(alice, 'alice', 'shown', 'renamed');
  t.equal(await levelOf(example, dave, { owner: 'renamed', name: 'shown' }), 'none', 'and the way back gives nothing');
  const at = { organisation: 'renamed', name: 'reviewers' };
  await repositories.teams.setRole(alice, at, { owner: 'renamed', name: 'shown' }, 'write');
  await organisations.teams.delete(alice, at);
  t.equal(await levelOf(example, dave, { owner: 'renamed', name: 'shown' }), 'none');
  t.equal(await reasonOf(accounts.personByUsername('dave')), 'accepted');
});

t.test('a repository of another owner cannot be added', async (t) => {
  const { organisations, repositories, alice } = await openExample(t);
  await repositories.create(alice, { owner: 'alice', name: 'own', visibility: 'PUBLIC' });
  await organisations.create(alice, { name: 'another' });
  await repositories.create(alice, { owner: 'another', name: 'there', visibility: 'PUBLIC' });
  for (const [owner, name] of [
    ['alice', 'own'],
    ['another', 'there'],
    ['example', 'nothing'],
  ] as const)
    t.equal(await reasonOf(repositories.teams.setRole(alice, team, { owner, name }, 'read')), 'repository_not_found');
});

t.test('a rule of a branch names a team: those of its people who may push', async (t) => {
  const { organisations, repositories, alice, dave } = await openExample(t);
  const id = await repositories.rules.add(alice, 'example', 'hidden', {
    target: 'branch',
    pattern: 'release',
    grants: {
      push: { level: 'nobody', teams: ['Reviewers'] },
      create: { level: 'nobody', teams: ['example/reviewers'] },
    },
  });
  const may = async (viewer: Viewer) => {
    const { repository } = await repositories.find(alice, 'example', 'hidden');
    return (await repositories.rules.rightsIn(viewer, repository)).may('refs/heads/release', 'push');
  };
  t.equal(await may(dave), true);
  t.equal(await may(alice), false);
  t.match(await repositories.rules.find(alice, 'example', 'hidden', id), { teams: { push: ['example/Reviewers'] } });
  await repositories.teams.setRole(alice, team, hidden, 'read');
  t.equal(await may(dave), false, 'a rule does not grant it');
  await repositories.teams.setRole(alice, team, hidden, 'write');
  await organisations.teams.removeMember(alice, team, 'dave');
  t.equal(await may(dave), false);
  const change = (name: string) =>
    reasonOf(repositories.rules.change(alice, 'example', 'hidden', id, { grants: { push: { teams: [name] } } }));
  for (const name of ['nothing', 'alice/reviewers', 'example/nothing', 'a/b/c'])
    t.equal(await change(name), 'no_such_team');
  await organisations.teams.delete(alice, team);
  t.match(await repositories.rules.find(alice, 'example', 'hidden', id), { teams: { push: [] } });
});
