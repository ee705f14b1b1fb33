// Reviewers of an environment: who is told that a deployment waits, by which channel, and what ends it.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { fillRepository, sendRequest, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';

t.setTimeout(120_000);

const roof = { owner: 'acme', name: 'roof' };
const file = `name: Ship
on: workflow_dispatch
jobs:
  one: {runs-on: linux, environment: production, strategy: {matrix: {zone: [a, b]}}, steps: [{run: ls}]}
  two: {runs-on: linux, environment: {name: staging, deployment: false}, steps: [{run: ls}]}
`;

async function openWorld(t: Owner) {
  const server = await startMailServer(t);
  const web = await startWeb(t, { env: server.env });
  const { accounts, ci, mail, notifications, organisations, repositories } = web.modules;
  const people: Record<string, PersonViewer> = {};
  const sessions: Record<string, Awaited<ReturnType<typeof signedIn>>> = {};
  for (const name of ['alice', 'bob', 'carol', 'dave', 'eve']) {
    sessions[name] = await signedIn(web, name);
    const { id } = sessions[name];
    people[name] = viewerOf(id, name);
    await accounts.addresses.add(id, { address: `${name}@example.org`, isVerified: true });
  }
  const { alice, bob, carol, dave, eve } = people as Record<'alice' | 'bob' | 'carol' | 'dave' | 'eve', PersonViewer>;
  await organisations.create(alice, { name: 'acme', displayName: 'Acme' });
  await repositories.create(alice, { ...roof, visibility: 'PRIVATE' });
  for (const [username, role] of [
    ['bob', 'read'],
    ['carol', 'write'],
    ['dave', 'read'],
  ] as const)
    await repositories.collaborators.add(alice, roof.owner, roof.name, { username, role });
  const found = await repositories.find(alice, roof.owner, roof.name);
  await fillRepository(t, found.path, { '.hearth/workflows/ship.yml': file });
  await notifications.setWatching(alice, roof, 'participating');
  const reviewers = (production: string[], staging: string[] = [], more = {}) =>
    Promise.all([
      ci.environments.set(alice, found, 'production', { reviewers: production, ...more }),
      ci.environments.set(alice, found, 'staging', { reviewers: staging }),
    ]);
  await mail.drain();
  server.mails.length = 0;
  const inbox = async (viewer: PersonViewer, view: 'inbox' | 'unread' = 'unread') => {
    await notifications.tell();
    const { rows } = await notifications.list(viewer, { view }, { limit: 20 });
    return rows.map(({ run, deployment, reason }) => `${run!.number} ${deployment!.environment} ${reason}`).sort();
  };
  return {
    ...web.modules,
    web,
    sessions,
    found,
    alice,
    bob,
    carol,
    dave,
    eve,
    reviewers,
    inbox,
    start: async () =>
      (await ci.workflows.dispatch(alice, found, { path: 'ship.yml', ref: 'main', inputs: new Map() })).number,
    decide: async (by: PersonViewer, run: number, environments: string[], verdict: 'approved' | 'rejected') =>
      ci.environments.review(by, await repositories.find(by, roof.owner, roof.name), run, {
        verdict,
        environments,
        comment: '',
      }),
    /** A minute passes. @returns whom mails were sent to, and them */
    async send() {
      await notifications.tell();
      web.clock.advance(61_000);
      await mail.drain();
      const mails = server.mails.splice(0).map((one) => ({ ...one, text: one.text.replaceAll('\r\n', '\n') }));
      return { to: mails.flatMap((one) => one.to).sort(), mails };
    },
  };
}

t.test('a deployment that waits is told to those who may decide about it, once for a matrix', async (t) => {
  const w = await openWorld(t);
  const { alice, bob, carol, dave } = w;
  // Eve reviews by her team, dave by his team and by his name.
  const team = { organisation: 'acme', name: 'ops' };
  await w.organisations.teams.create(alice, 'acme', { name: 'ops' });
  for (const username of ['dave', 'eve']) {
    await w.organisations.addMember(alice, 'acme', { username, role: 'MEMBER' });
    await w.organisations.teams.addMember(alice, team, username);
  }
  await w.send();
  await w.reviewers(['alice', 'bob', 'carol'], ['acme/ops', 'dave'], { preventsSelfReview: true });
  await w.notifications.setWatching(carol, roof, 'ignore');
  const run = await w.start();
  t.strictSame(await w.inbox(bob), [`${run} production review_asked`], 'a reviewer who only reads');
  t.strictSame(await w.inbox(dave), [`${run} staging review_asked`], 'also of what is no deployment');
  t.strictSame(await w.inbox(alice), [], 'who has started it and may not decide');
  t.strictSame(await w.inbox(carol), [], 'who ignores the repository');
  t.strictSame(await w.inbox(w.eve), [`${run} staging review_asked`], 'by a team');
  const { to, mails } = await w.send();
  t.strictSame(to, ['bob@example.org', 'dave@example.org', 'eve@example.org']);
  const [mail] = mails.filter((one) => one.to.includes('bob@example.org'));
  t.equal(headerOf(mail!, 'subject'), '[acme/roof] Deployment to production waits for a review: Ship');
  t.match(mail!.text, /\/repos\/acme\/roof\/runs\/1\n/);
  t.match(mail!.text, /You are receiving this mail because you were asked for a review/);

  await w.decide(bob, run, ['production'], 'approved');
  t.strictSame(await w.inbox(bob), [], 'nothing is left to decide');
  t.match((await w.notifications.list(bob, { view: 'inbox' }, { limit: 5 })).rows, [{ resolvedAt: Number }]);
  t.strictSame(await w.inbox(dave), [`${run} staging review_asked`], 'the other environment waits');
  await w.ci.runs.cancel(alice, w.found, run, { force: true });
  t.strictSame(await w.inbox(dave), [], 'a cancelled run waits for nobody');

  w.web.clock.advance(1_000);
  await w.ci.runs.rerun(alice, w.found, run, 'all');
  t.strictSame(await w.inbox(bob), [`${run} production review_asked`], 'another attempt asks again');
  t.strictSame((await w.send()).to, ['bob@example.org', 'dave@example.org', 'eve@example.org']);
});

t.test('what was decided, or taken from a person, before it is told waits for nobody', async (t) => {
  const w = await openWorld(t);
  const { alice, bob, carol, dave } = w;
  await w.reviewers(['bob', 'carol'], ['dave', 'carol'], { needsWrite: true });
  const run = await w.start();
  await w.decide(carol, run, ['production'], 'rejected');
  await w.repositories.collaborators.remove(alice, roof.owner, roof.name, 'dave');
  // On a slow machine it is told in between, and then marked as decided: neither is unread.
  t.strictSame(await w.inbox(bob), []);
  t.strictSame(await w.inbox(dave), []);
  t.strictSame(await w.inbox(carol), [`${run} staging review_asked`]);
  await w.decide(carol, run, ['staging'], 'approved');
  t.strictSame((await w.send()).to, [], 'a mail of what is decided within the minute is not sent');

  w.web.clock.advance(1_000);
  const later = await w.start();
  await w.inbox(carol);
  await w.reviewers([], [], { needsWrite: false });
  t.strictSame(await w.inbox(carol), [], 'the environments ask nobody any more');
  t.strictSame((await w.send()).to, []);
  t.match((await w.ci.runs.find(w.found, later)).jobs, [{ status: 'waiting' }, {}, { status: 'waiting' }]);
});

t.test('the page of the run marks it as read; pages, API and feed name it; its mails can be ended', async (t) => {
  const w = await openWorld(t);
  const { bob } = w;
  await w.reviewers(['bob']);
  const run = await w.start();
  const { mails } = await w.send();
  const { get } = w.sessions['bob']!;
  t.match((await get('/notifications')).body, /Ship waits to deploy to production/);
  const { secret } = await w.accounts.addToken(bob.id, {
    name: 'inbox',
    access: 'read',
    repositoryIds: null,
    expiresAt: null,
  });
  await w.send();
  const headers = { Authorization: `Bearer ${secret}` };
  const answer = await sendRequest(w.web, '/api/v1/notifications', { method: 'GET', headers });
  const threads = JSON.parse(answer.body) as object[];
  t.match(threads, [{ unread: true, subject: { type: 'Run', state: 'waiting', title: /Ship/ } }]);
  t.equal((await get(`/repos/acme/roof/runs/${run}`)).status, 200);
  t.strictSame(await w.inbox(bob), [], 'read');
  t.strictSame(await w.inbox(bob, 'inbox'), [`${run} production review_asked`]);
  const [, link = ''] = /(\/notifications\/unsubscribe\?token=\S+)/.exec(mails[0]!.text) ?? [];
  t.match((await get(link)).body, 'asked for a review');
  t.equal((await sendRequest(w.web, link, { method: 'POST' })).status, 200);
  w.web.clock.advance(1_000);
  const next = await w.start();
  t.strictSame(await w.inbox(bob), [`${next} production review_asked`]);
  t.strictSame((await w.send()).to, [], 'the inbox has it, and no mail is sent');
  await w.notifications.changeSettings(bob, {
    rules: [{ reason: 'review_asked', channel: 'mail', isOn: true }],
    digest: 'daily',
  });
  w.web.clock.advance(1_000);
  await w.start();
  await w.notifications.tell();
  w.web.clock.advance(2 * 24 * 3_600_000);
  const [digest] = (await w.send()).mails;
  t.match(digest!.text, /a deployment to production waits for a review/);
});
