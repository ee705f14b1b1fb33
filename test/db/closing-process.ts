// Run as a process by postgres-connections.test.ts: reads from the database at URL, closes it, and says so.
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { createDatabase } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';

const db = await createDatabase({
  file: '',
  postgres: { url: process.argv[2]!, poolSize: 2, baseline: postgresBaseline },
  entities: [],
  migrations,
  clock: fixedClock(),
  logger: silentLogger,
  snapshotDirectory: '',
  migrate: 'never',
});
await db.state();
await db.read.query('SELECT 1 AS one');
await db.close();
process.stdout.write('closed');
