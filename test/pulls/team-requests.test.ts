// Review requests of teams: who may ask which, for whom it waits, what ends it, and what others see of it.
import t from 'tap';
import { localAdministrator, viewerWithCredential } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import { formatIssueQuery, parseIssueQuery } from '../../src/issues/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { announced, at, anonymous, base, openReviews, reasonOf, roof, viewerOf } from './reviews-fixture.ts';

const there = { owner: 'guild', name: roof.name };
const here = { ...at(1), owner: 'guild' };
const glazers = { organisation: 'guild', name: 'glazers' };

/**
 * `guild/roof`, with alice OWNER of the guild; bob and dave are in `guild/Glazers`, which writes there, and in no
 * organisation. The author of #1 is alice, or carol, a collaborator who knows of no team.
 */
async function openGuild(t: Owner, { files = base, author = 'alice' as 'alice' | 'carol' } = {}) {
  const modules = await openReviews(t, { files });
  const { alice, accounts, organisations, repositories, pulls, issues, deps, branch, run } = modules;
  branch('topic', { 'a.txt': 'other\n' });
  await organisations.create(alice, { name: 'guild' });
  await repositories.transfers.start(alice, roof.owner, roof.name, 'guild');
  await repositories.collaborators.add(alice, 'guild', roof.name, { username: 'carol', role: 'write' });
  await organisations.teams.create(alice, 'guild', { name: 'Glazers' });
  const dave = viewerOf(await accounts.addPerson({ username: 'dave' }));
  for (const name of ['bob', 'dave']) await organisations.teams.addMember(alice, glazers, name);
  await repositories.teams.setRole(alice, glazers, there, 'write');
  run('remote', 'set-url', 'hearth', (await repositories.find(alice, 'guild', roof.name)).path);
  await pulls.open(modules[author], there, { title: 'A change', body: '', head: 'topic', base: 'main' });
  await announced(issues, deps.db);

  /** For whom #1 waits, with the reasons. */
  async function turns(): Promise<Record<string, string>> {
    await announced(issues, deps.db);
    const found: Record<string, string> = {};
    for (const person of [alice, modules.bob, modules.carol, dave]) {
      const { rows } = await pulls.attention.waitingFor(person, { limit: 10 });
      if (rows.length > 0) found[person.username!] = rows.map(({ reason }) => reason).join();
    }
    return found;
  }
  const ask = (viewer: Viewer, ...add: string[]) => reasonOf(pulls.attention.request(viewer, here, { add }));
  const named = async (viewer: Viewer) =>
    (await pulls.attention.requestedTeams(viewer, here)).map(({ organisation, team }) => `${organisation}/${team}`);
  const log = async () =>
    (await issues.listEntries(alice, here)).entries
      .filter(({ kind }) => kind === 'asked')
      .map(({ authorId, details }) => ({ authorId, details }));
  return { ...modules, dave, turns, ask, named, log };
}

t.test('it waits for each of the team until one of them answers', async (t) => {
  const { pulls, organisations, accounts, clock, turns, ask, named, log, alice, bob, dave } = await openGuild(t);
  t.equal(await ask(alice, 'guild/GLAZERS'), 'accepted');
  t.same(await turns(), { bob: 'team', dave: 'team' });
  t.same(await named(alice), ['guild/Glazers']);
  t.equal(await ask(alice, 'guild/glazers', 'bob'), 'accepted');
  t.same(await turns(), { bob: 'asked', dave: 'team' }, 'who is asked by name, too, has it once');
  t.equal((await log()).length, 2, 'asked once each');

  const erin = viewerOf(await accounts.addPerson({ username: 'erin' }));
  await organisations.teams.addMember(alice, glazers, 'erin');
  t.equal((await pulls.attention.waitingFor(erin, { limit: 9 })).rows.length, 1, 'who joins later has it, too');
  await organisations.teams.removeMember(alice, glazers, 'erin');
  t.same((await pulls.attention.waitingFor(erin, { limit: 9 })).rows, []);

  clock.advance(1);
  await pulls.reviews.submit(dave, here, { verdict: 'COMMENT', body: 'Fine.', round: 1 });
  t.same(await turns(), { alice: 'review', bob: 'asked' });
  t.not((await pulls.attention.requestedTeams(alice, here))[0]?.answeredAt, null);
  clock.advance(1);
  await pulls.reviews.submit(bob, here, { verdict: 'APPROVE', round: 1 });
  t.same(await turns(), { alice: 'review' });
  t.equal(await ask(alice, 'guild/glazers'), 'accepted', 'asked again');
  t.same(await turns(), { bob: 'team', dave: 'team' });
  await pulls.attention.request(alice, here, { remove: ['guild/glazers'] });
  t.same(await turns(), {});
  t.same(await named(alice), []);
  t.match((await log()).at(-1), { authorId: alice.id, details: { removed: true } });
});

t.test('a draft and a closed pull request wait for no team; the author does not wait for themselves', async (t) => {
  const { pulls, issues, organisations, turns, ask, alice } = await openGuild(t);
  await pulls.edit(alice, here, { isDraft: true });
  t.equal(await ask(alice, 'guild/glazers'), 'accepted');
  t.same(await turns(), {});
  await organisations.teams.addMember(alice, glazers, 'alice');
  await pulls.edit(alice, here, { isDraft: false });
  t.same(await turns(), { bob: 'team', dave: 'team' });
  await pulls.reviews.submit(alice, here, { verdict: 'COMMENT', body: 'Mine.', round: 1 });
  t.same(await turns(), { bob: 'team', dave: 'team' }, 'the author does not answer for the team');
  await issues.close(alice, here, 'not_planned');
  t.same(await turns(), {});
});

t.test('the list has pages over what waits for the person and for their teams', async (t) => {
  const { pulls, issues, deps, organisations, repositories, clock, branch, alice, bob } = await openGuild(t);
  await organisations.teams.create(alice, 'guild', { name: 'tilers' });
  await organisations.teams.addMember(alice, { organisation: 'guild', name: 'tilers' }, 'bob');
  await repositories.teams.setRole(alice, { organisation: 'guild', name: 'tilers' }, there, 'read');
  for (const head of ['two', 'three', 'four']) {
    branch(head, { 'a.txt': `${head}\n` });
    await pulls.open(alice, there, { title: head, body: '', head, base: 'main' });
  }
  const asked: [number, ...string[]][] = [
    [3, 'guild/glazers'],
    [1, 'bob'],
    [2, 'guild/tilers'],
    [4, 'guild/tilers', 'guild/glazers'],
    [2, 'guild/glazers'],
  ];
  for (const [number, ...add] of asked) {
    clock.advance(1_000);
    await pulls.attention.request(alice, { ...here, number }, { add });
    await announced(issues, deps.db);
  }
  const numbers = async (paging: { after?: string | null; before?: string | null } = {}) => {
    const page = await pulls.attention.waitingFor(bob, { limit: 2, ...paging });
    return { ...page, numbers: page.rows.map(({ issue }) => issue.number) };
  };
  const first = await numbers();
  t.same(first.numbers, [3, 1]);
  const second = await numbers({ after: first.next });
  t.same(second.numbers, [2, 4], 'each once, by the team that waits longest');
  t.equal(second.next, null);
  t.same((await numbers({ before: second.previous })).numbers, [3, 1]);
});

t.test('who may ask which team, and who sees that', async (t) => {
  const { pulls, organisations, repositories, repository, ask, named, log, alice, bob, carol } = await openGuild(t, {
    author: 'carol',
  });
  t.equal(await ask(carol, 'guild/glazers'), 'unknown_team', 'hidden');
  t.equal(await ask(carol, 'guild/nothing'), 'unknown_team', 'absent');
  t.equal(await ask(alice, 'guild/nothing'), 'unknown_team');
  t.equal(await ask(alice, 'guild/glazers/x'), 'unknown_team');
  const limited = viewerWithCredential(
    alice.id,
    { via: 'token', scope: 'admin', repositoryIds: [repository.id] },
    repository.id,
  );
  t.equal(await ask(limited, 'guild/glazers'), 'unknown_team', 'a token that is limited to repositories');
  t.equal(await ask(anonymous, 'guild/glazers'), 'sign_in_required');
  await organisations.teams.create(alice, 'guild', { name: 'tilers' });
  const tilers = { organisation: 'guild', name: 'tilers' };
  await organisations.teams.addMember(alice, tilers, 'carol');
  t.equal(await ask(alice, 'guild/tilers'), 'team_without_role');
  await repositories.teams.setRole(alice, tilers, there, 'read');
  t.equal(await ask(alice, 'guild/tilers'), 'team_without_reviewers', 'only the author is in it');
  t.equal(await ask(alice, 'bob', 'guild/tilers'), 'team_without_reviewers');
  t.same(await pulls.attention.requested(alice, here), [], 'nothing is changed');
  t.same(await log(), []);
  t.equal(await ask(bob, 'guild/glazers'), 'accepted', 'one of the team who may write');
  t.same(await named(bob), ['guild/Glazers']);
  t.same(await named(localAdministrator), ['guild/Glazers']);
  t.same(await named(carol), [], 'who does not know of the team does not see that it was asked');
  t.same(await named(anonymous), []);
  t.equal(await reasonOf(pulls.attention.request(carol, here, { remove: ['guild/glazers'] })), 'unknown_team');
  t.match((await pulls.reviews.text(bob, here)).waitingFor, ['guild/Glazers']);
  t.same((await pulls.reviews.text(carol, here)).waitingFor, []);
});

t.test('the request ends with the role, the team, and the owner of the repository', async (t) => {
  const { organisations, repositories, turns, ask, named, log, alice } = await openGuild(t);
  const both = { bob: 'team', dave: 'team' };
  await ask(alice, 'guild/glazers');
  t.same(await turns(), both);
  await repositories.teams.setRole(alice, glazers, there, 'read');
  t.same(await turns(), both, 'another role keeps it');
  await repositories.teams.removeRole(alice, glazers, there);
  t.same(await turns(), {});
  t.same(await named(alice), []);
  await repositories.teams.setRole(alice, glazers, there, 'write');
  t.same(await turns(), {}, 'and it does not come back');

  await ask(alice, 'guild/glazers');
  t.same(await turns(), both);
  await organisations.teams.edit(alice, glazers, { name: 'Window-makers' });
  t.same(await named(alice), ['guild/Window-makers'], 'it follows the name');
  await organisations.teams.delete(alice, { organisation: 'guild', name: 'window-makers' });
  t.same(await turns(), {});
  t.same(await named(alice), []);
  t.equal((await log()).length, 2, 'the log keeps that a team was asked');

  await organisations.teams.create(alice, 'guild', { name: 'glazers' });
  await organisations.teams.addMember(alice, glazers, 'bob');
  await repositories.teams.setRole(alice, glazers, there, 'write');
  await ask(alice, 'guild/glazers');
  t.same(await turns(), { bob: 'team' });
  await organisations.create(alice, { name: 'other' });
  await repositories.transfers.start(alice, 'guild', roof.name, 'other');
  t.same(await turns(), {});
  t.same(await named({ ...alice }).catch(() => []), []);
});

t.test('a team that owns changed files is asked, once, as far as it may review', async (t) => {
  const owners = '*.txt @guild/Glazers @guild/tilers @guild/nothing\n';
  const { pulls, turns, named, log, alice, bob } = await openGuild(t, {
    files: { ...base, CODEOWNERS: owners },
    author: 'carol',
  });
  t.same(await turns(), { bob: 'team', dave: 'team' });
  const [asked, ...more] = await log();
  t.match(asked, { authorId: null, details: { reason: 'owner' } });
  t.same(more, []);
  t.same(await named(bob), ['guild/Glazers']);
  await pulls.reviews.submit(bob, here, { verdict: 'APPROVE', round: 1 });
  await pulls.edit(alice, here, { isDraft: true });
  await pulls.edit(alice, here, { isDraft: false });
  await turns();
  t.equal((await log()).length, 1, 'once');
});

t.test('"review-requested:@me" has what waits for the teams of the viewer, and tells of no one else', async (t) => {
  const { issues, ask, alice, bob, dave } = await openGuild(t);
  await ask(alice, 'guild/glazers');
  const found = async (viewer: Viewer, words: string) =>
    (await issues.list(viewer, there, parseIssueQuery(`is:pull ${words}`).filter, { limit: 9 })).rows.map(
      ({ number }) => number,
    );
  t.same(await found(bob, 'review-requested:@me'), [1]);
  t.same(await found(bob, 'review-requested:bob'), [1]);
  t.same(await found(dave, 'review-requested:bob'), [], 'who is in a team is not shown by a list');
  t.same(await found(alice, 'review-requested:@me'), []);
});

t.test('"team-review-requested:" has what waits for a team, for those who know of the team', async (t) => {
  const { issues, ask, pulls, organisations, alice, bob, carol } = await openGuild(t);
  await ask(alice, 'guild/glazers');
  const found = async (viewer: Viewer, team: string) => {
    const { filter, unknown } = parseIssueQuery(`is:pull team-review-requested:${team}`);
    t.same(unknown, []);
    t.equal(
      formatIssueQuery(filter),
      `is:pull is:open team-review-requested:${team}`,
      'the address of the list has it',
    );
    return (await issues.list(viewer, there, filter, { limit: 9 })).rows.map(({ number }) => number);
  };
  t.same(await found(bob, 'guild/GLAZERS'), [1]);
  t.same(await found(alice, 'guild/glazers'), [1], 'who manages the team, too');
  for (const hidden of [carol, anonymous])
    t.same(await found(hidden, 'guild/glazers'), [], 'as of a team that is absent');
  for (const absent of ['guild/none', 'none/glazers', 'glazers', 'guild/glazers/more', 'guild/'])
    t.same(await found(bob, absent), [], absent);
  await organisations.teams.create(alice, 'guild', { name: 'Other' });
  t.same(await found(alice, 'guild/other'), [], 'another team');
  await pulls.reviews.submit(bob, here, { verdict: 'APPROVE', round: 1 });
  t.same(await found(bob, 'guild/glazers'), [], 'once it has answered');
});
