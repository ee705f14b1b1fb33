import { createHash } from 'node:crypto';
import t from 'tap';
import { auditEntities, createAudit } from '../../src/audit/index.ts';
import { hashEntry } from '../../src/audit/hash-chain.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

async function openAudit(t: Owner) {
  const { db, clock } = await openTestDatabase(t, { entities: auditEntities as never });
  const told: LogFields[] = [];
  const inner: Logger = {
    ...silentLogger,
    info: (event, fields) => void (event === 'audit.entry' && told.push(fields ?? {})),
  };
  const audit = createAudit({ db, clock, logger: inner, otherwise: 'local' });
  return { db, audit, told, logger: audit.auditing(silentLogger) };
}

t.test('an audited act becomes an entry, with who did it and from where; others do not', async (t) => {
  const { audit, logger } = await openAudit(t);
  logger.info('http.request', { path: '/' });
  logger.info('person.added', { personId: 'x' });
  await audit.as({ by: 'alice-id', address: '192.0.2.1' }, async () => logger.info('key.added', { keyId: 'k' }));
  logger.child({ request: 'r' }).info('repository.deleted', { repositoryId: 'r', by: 'bob-id' });
  await audit.flush();
  t.match(await audit.list({ limit: 10 }), [
    { id: 3, event: 'repository.deleted', actor: 'bob-id', address: null, details: { repositoryId: 'r' } },
    { id: 2, event: 'key.added', actor: 'alice-id', address: '192.0.2.1', details: { keyId: 'k' } },
    { id: 1, event: 'person.added', actor: 'local' },
  ]);
  t.match(await audit.list({ limit: 1, before: 3 }), [{ id: 2 }]);
});

t.test('an event logged inside a write is stored after it', async (t) => {
  const { db, audit, logger } = await openAudit(t);
  await db.write(async ({ manager }) => {
    logger.info('person.disabled', { personId: 'x' });
    await manager.query('SELECT 1');
  });
  await audit.flush();
  t.equal((await audit.list({ limit: 10 })).length, 1);
});

t.test('any change or removal of an entry is found', async (t) => {
  const cases: [what: string, sql: string, id: number, why: string][] = [
    ['a field', "UPDATE audit_log SET actor = 'carol' WHERE id = 300", 300, 'was changed'],
    ['the time', 'UPDATE audit_log SET at = at + 1 WHERE id = 2', 2, 'was changed'],
    ['the details', `UPDATE audit_log SET details = '{"at":7}' WHERE id = 299`, 299, 'was changed'],
    ['the address', "UPDATE audit_log SET address = '192.0.2.9' WHERE id = 298", 298, 'was changed'],
    ['the event', "UPDATE audit_log SET event = 'token.removed' WHERE id = 297", 297, 'was changed'],
    ['an entry that is gone', 'DELETE FROM audit_log WHERE id = 601', 601, 'is missing'],
    ['the first', 'DELETE FROM audit_log WHERE id = 1', 1, 'is missing'],
  ];
  for (const [what, sql, id, why] of cases) {
    const { db, audit, logger } = await openAudit(t);
    for (let at = 0; at < 603; at += 1) logger.info('token.added', { at });
    await audit.flush();
    t.equal(await audit.findBreak(), null);
    await t.rejects(
      db.write(({ manager }) => manager.query("UPDATE audit_log SET actor = 'x'")),
      'SQL alone cannot',
    );
    await db.write(async ({ manager }) => {
      await manager.query('DROP TRIGGER audit_log_stays');
      await manager.query(sql);
    });
    t.same(await audit.findBreak(), { id, why }, what);
  }
});

t.test('newest entries that are gone, or a log made anew, are noticed by an entry that is known', async (t) => {
  const { db, audit, logger, told } = await openAudit(t);
  for (let at = 0; at < 20; at += 1) logger.info('token.added', { at });
  await audit.flush();
  t.equal(told.length, 20, 'the log of the server has each');
  const known = { id: Number(told[18]!['entry']), hash: String(told[18]!['hash']) };
  t.equal(await audit.findBreak(known), null);
  t.same(await audit.findBreak({ ...known, hash: '0'.repeat(64) }), { id: 19, why: 'is another than the known one' });
  await db.write(async ({ manager }) => {
    await manager.query('DROP TRIGGER audit_log_stays');
    await manager.query('DELETE FROM audit_log WHERE id > 18');
  });
  t.equal(await audit.findBreak(), null, 'the chain alone does not show it');
  t.same(await audit.findBreak(known), { id: 19, why: 'is missing' });
});

t.test('the hash of an entry is over the previous one and every field, in this form for ever', async (t) => {
  const entry = { id: 2, at: 1_767_225_600_000, actor: 'alice-id', address: '192.0.2.1', event: 'key.added' };
  t.equal(
    hashEntry('00ff', { ...entry, details: `{"keyId":"k"}` }),
    createHash('sha256')
      .update('["00ff",2,1767225600000,"alice-id","192.0.2.1","key.added","{\\"keyId\\":\\"k\\"}"]')
      .digest('hex'),
  );
});

t.test('events of accounts, organisations and repositories are recorded', async (t) => {
  const { modules, addPerson } = await startHearth(t);
  const alice = await addPerson('alice');
  await modules.accounts.setAdministrator(alice.id, true);
  await modules.accounts.addInvite(alice.id);
  await modules.ci.secrets.set({ kind: 'user', id: alice.id }, { name: 'CANARY', value: 'the value of it' });
  await modules.ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
  const input = { name: 'CI', redirectUris: ['https://ci.example.org/'], isConfidential: true };
  const owner = { kind: 'user', id: alice.id } as const;
  const { application, secret: applicationSecret } = await modules.oauth.applications.add(owner, input);
  await modules.oauth.applications.change(owner, application.id, { ...input, name: 'Build' });
  const replaced = await modules.oauth.applications.replaceSecret(owner, application.id);
  await t.rejects(modules.oauth.applications.remove({ kind: 'instance' }, application.id));
  await modules.oauth.applications.remove(owner, application.id);
  await modules.audit.flush();
  const entries = await modules.audit.list({ limit: 20 });
  t.same(entries.map(({ event, actor }) => [event, actor === alice.id ? 'alice' : actor]).reverse(), [
    ['person.added', 'server'],
    ['token.added', 'server'],
    ['person.administrator_set', 'server'],
    ['invite.added', 'alice'],
    ['secret.set', 'server'],
    ['runner.token_made', 'server'],
    ['application.added', 'server'],
    ['application.changed', 'server'],
    ['application.secret_replaced', 'server'],
    ['application.removed', 'server'],
  ]);
  for (const secret of [alice.token, 'the value of it', applicationSecret!, replaced])
    t.notMatch(JSON.stringify(entries), secret, 'no secret is kept');
  t.match(entries[0], { details: { applicationId: application.id, scope: 'user', scopeId: alice.id } });
  t.match(entries[5], { details: { name: 'CANARY', scope: 'user', scopeId: alice.id } });
  t.equal(await modules.audit.findBreak(), null);
});
