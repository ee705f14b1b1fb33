// A program for start-recovery.test.ts: a server with a listener of pushes that kills it. argv: the data folder. Prints
// a line when its ports are open; exits when nothing is left to announce, or after three seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';

const [dataDir = ''] = process.argv.slice(2);
const { config } = loadConfig({
  env: {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_HTTP_LISTEN: '127.0.0.1:0',
    SERVICE_SSH_LISTEN: '127.0.0.1:0',
    SERVICE_GRPC_LISTEN: '127.0.0.1:0',
  },
  cwd: dataDir,
  readFile: () => '',
});
const app = await createApp(config, { logger: silentLogger });
const { repositories, db } = app.modules;
repositories.pushes.onPush({
  name: 'killer',
  prepare: async () => {
    // The output must be flushed.
    await sleep(50);
    process.kill(process.pid, 'SIGKILL');
    return sleep(60_000);
  },
});
await app.start();
process.stdout.write('ports are open\n');
const open = 'SELECT count(*) AS n FROM pushes WHERE announced_at IS NULL AND parked_at IS NULL';
const until = Date.now() + 3_000;
while (Date.now() < until && (((await db.read.query(open)) as { n: number }[])[0]?.n ?? 0) > 0) await sleep(20);
await app.stop({ graceMs: 0 });
process.exit(0);
