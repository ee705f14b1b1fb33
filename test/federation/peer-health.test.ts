import t from 'tap';
import { entities } from '../../src/app/database.ts';
import { healthOf, recordError, recordSuccess } from '../../src/federation/deliveries/peer-health.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

t.test('of each server the last error is known, whatever came before, and no other server has it', async (t) => {
  const { db, clock } = await openTestDatabase(t, { entities: entities as never });
  const hosts = ['one.example.org', 'two.example.org'];
  const error = (host: string, text: string) => db.write((tx) => recordError(tx, host, text));
  await error(hosts[0]!, 'status 500');
  clock.advance(1_000);
  await error(hosts[0]!, 'status 403');
  await db.write((tx) => recordSuccess(tx, new Set([hosts[1]!])));
  const health = await healthOf(db.read, hosts);
  t.match(health.get(hosts[0]!), { lastError: 'status 403', lastErrorAt: clock.now() });
  t.match(health.get(hosts[1]!), { lastError: null, lastSuccessAt: clock.now() });
});
