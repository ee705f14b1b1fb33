// Run as a process by migrations.test.ts: migrates FILE and is killed before statement AT of version VERSION.
import { migrations } from '../../migrations/index.ts';
import { createDatabase } from '../../src/db/index.ts';
import { databaseOptions } from '../fixtures/test-database.ts';

const [file, version, at] = process.argv.slice(2);

const deadly = migrations.map((migration) => {
  if (migration.version !== Number(version)) return migration;
  const statements = [...migration.statements];
  statements[Symbol.iterator] = function* () {
    for (const [index, statement] of [...migration.statements].entries()) {
      if (index === Number(at)) process.kill(process.pid, 'SIGKILL');
      yield statement;
    }
    // The transaction is still open here: the latest point for a crash.
    process.kill(process.pid, 'SIGKILL');
    return undefined;
  } as never;
  return { ...migration, statements };
});

await createDatabase(databaseOptions(file!, { migrations: deadly }));
