// Secrets of the server that only some owners and repositories get.
import t from 'tap';
import { localAdministrator, personViewer } from '../../src/access/index.ts';
import { startAdminWeb } from '../fixtures/admin-web-fixture.ts';
import { secretsFor } from '../../src/ci/secrets/secrets.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import path from 'node:path';

const { web, administrator, member } = await startAdminWeb(t);
const { accounts, ci, config, db, organisations, repositories } = web.modules;
const carol = { ...personViewer((await accounts.addPerson({ username: 'carol' })).id, 'admin'), username: 'carol' };
await organisations.create(carol, { name: 'acme' });
await organisations.create(carol, { name: 'guild' });
const make = async (owner: string, name: string) =>
  (await repositories.create(localAdministrator, { owner, name, visibility: 'PRIVATE' })).id;
const [site, other, garden, tools, foreign] = [
  await make('alice', 'site'),
  await make('alice', 'other'),
  await make('carol', 'garden'),
  await make('acme', 'tools'),
  await make('guild', 'tools'),
];
const instance = { kind: 'instance' } as const;

const key = new InstanceKey(path.join(config.dataDir, 'ci', 'secret.key'), systemRandom, 'ci');
const given = async (repositoryId: string) => {
  const located = (await repositories.locate([repositoryId])).get(repositoryId)!;
  return [...(await secretsFor({ key }, db.read, located.repository)).keys()].sort();
};

t.test('tasks of a repository get what is limited to it or to its owner', async (t) => {
  await ci.secrets.set(instance, { name: 'ALL', value: 'value' });
  await ci.secrets.set(instance, { name: 'OWNER', value: 'value', onlyFor: ['carol'] });
  await ci.secrets.set(instance, { name: 'ONE', value: 'value', onlyFor: ['alice/site', 'Carol/Garden'] });
  t.same(await given(site), ['ALL', 'ONE']);
  t.same(await given(other), ['ALL']);
  t.same(await given(garden), ['ALL', 'ONE', 'OWNER']);
  t.same([await given(tools), await given(foreign)], [['ALL'], ['ALL']], 'an organisation is not its owner');
  await ci.secrets.set(instance, { name: 'TEAM', value: 'value', onlyFor: ['acme', 'alice/other'] });
  t.same(
    [await given(tools), await given(foreign), await given(other), await given(site)],
    [['ALL', 'TEAM'], ['ALL'], ['ALL', 'TEAM'], ['ALL', 'ONE']],
  );
  await ci.secrets.remove(instance, 'TEAM');
  t.match(await ci.secrets.list(instance), [
    { name: 'ALL', onlyFor: null },
    { name: 'ONE', onlyFor: ['alice/site', 'carol/garden'] },
    { name: 'OWNER', onlyFor: ['carol'] },
  ]);
});

t.test('a new value keeps the limit, an empty list ends it, and a rename changes neither', async (t) => {
  await ci.secrets.set(instance, { name: 'OWNER', value: 'another' });
  t.same(await given(other), ['ALL']);
  await repositories.rename(localAdministrator, 'alice', 'site', 'website');
  t.same(await given(site), ['ALL', 'ONE']);
  await make('alice', 'site');
  t.match((await ci.secrets.list(instance))[1], { onlyFor: ['alice/website', 'carol/garden'] });
  await ci.secrets.set(instance, { name: 'OWNER', value: 'another', onlyFor: [] });
  t.same(await given(other), ['ALL', 'OWNER']);
});

t.test('names that are nothing are refused, and so is a limit of any other place', async (t) => {
  for (const name of ['nobody-here', 'alice/absent', 'a/b/c'])
    await t.rejects(ci.secrets.set(instance, { name: 'X', value: 'value', onlyFor: [name] }), {
      reason: 'invalid_secret_readers',
      field: 'only_for',
    } as unknown as Error);
  await t.rejects(ci.secrets.set({ kind: 'repository', id: site }, { name: 'X', value: 'value', onlyFor: ['alice'] }), {
    reason: 'invalid_secret_readers',
  } as unknown as Error);
});

t.test('the page takes the list and says who gets a secret', async (t) => {
  const { body } = await administrator.get('/admin/secrets');
  t.match(body, /<code>ONE<\/code>[^]*Only for[^]*<code>alice\/website<\/code>, <code>carol\/garden<\/code>/);
  t.match(body, /<code>ALL<\/code>[^]*?For every repository/);
  const form = { name: 'PAGE', value: 'value', only_for: 'alice/other, carol' };
  t.equal((await administrator.post('/admin/secrets', form)).status, 303);
  t.same(await given(other), ['ALL', 'OWNER', 'PAGE']);
  t.notOk((await given(site)).includes('PAGE'));
  const refused = await administrator.post('/admin/secrets', { ...form, only_for: 'nobody-here' });
  t.equal(refused.status, 422);
  t.match(refused.body, /There is no owner called nobody-here/);
  t.match(refused.body, 'value="nobody-here"', 'what was typed stays');
  t.notMatch((await member.get('/settings/secrets')).body, 'only_for');
});

t.test('a secret that does not open with the key of the server is named, and no job runs without it', async (t) => {
  const swap = `UPDATE ci_secrets SET ciphertext = (SELECT o.ciphertext FROM ci_secrets o WHERE o.name = 'ALL') WHERE name = 'ONE'`;
  await db.write(({ manager }) => manager.query(swap));
  const failure = await given(site).catch((error: { reason: string; message: string }) => error);
  t.match(failure, { reason: 'secret_unreadable', message: /\bONE\b/ });
  t.same(await given(other), ['ALL', 'OWNER', 'PAGE'], 'who does not get it is not concerned');
});
