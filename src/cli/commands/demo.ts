import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { silentLogger } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { explainListenError } from '../serving/listen-errors.ts';

interface Options {
  listen?: string;
}

/** `hearth demo`: a server with sample content in a temporary folder, which is deleted when it stops. */
export function addDemoCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('demo')
      .description('start a server with sample content, which is deleted when it stops')
      .option('--listen <host:port>', 'address for web pages (default: a free port on this machine)')
      .action(run(demo)),
    'hearth demo',
    'hearth demo --listen 127.0.0.1:3000',
  );
}

const day = 86_400_000;

/** Reads no settings: a demo must never meet the data or the database of a real server. */
async function demo(cli: Cli, { listen = '127.0.0.1:0' }: Options): Promise<void> {
  const [{ loadConfig }, { createApp }, { fillDemo, demoPeople }] = await Promise.all([
    import('../../config/index.ts'),
    import('../../app/index.ts'),
    import('../demo/fill-demo.ts'),
  ]);
  const ended = new Promise<void>((resolve) => cli.onSignal(() => resolve()));
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-demo-'));
  // Creates the content within seconds, on a clock that passes through four weeks.
  let behind = 28 * day;
  const clock = { now: () => cli.clock.now() - behind };
  try {
    const { config } = loadConfig({
      argvOverrides: {
        data_dir: path.join(folder, 'data'),
        'http.listen': listen,
        'ssh.listen': '127.0.0.1:0',
        'grpc.listen': '127.0.0.1:0',
        // During these four weeks, jobs wait for the runner, which starts at the end.
        'ci.max_wait': '365d',
        'ci.max_unroutable': '365d',
      },
      env: {},
      cwd: folder,
      readFile: () => '',
    });
    const app = await createApp(config, { logger: silentLogger, clock });
    try {
      const { http, ssh } = await app.start().catch((error: unknown) => Promise.reject(explainListenError(error)));
      const host = http.host.includes(':') ? `[${http.host}]` : http.host;
      const url = `http://${host}:${http.port}`;
      const before = cli.clock.now();
      const filling = fillDemo(app.modules, url, {
        now: clock.now,
        pass: (ms) => (behind = Math.max(0, behind - ms)),
      });
      // If the user stops the demo early, the remaining requests fail with their server.
      filling.catch(() => undefined);
      const filled = await Promise.race([filling, ended]);
      if (!filled) return;
      const { password } = filled;
      behind = 0;
      const seconds = ((cli.clock.now() - before) / 1000).toFixed(1);
      const json = { url, people: demoPeople, password, ssh: ssh === null ? null : `${ssh.host}:${ssh.port}`, folder };
      cli.output.print(
        `${url}\nSign in as ${demoPeople.join(', ')} with the password ${password}; alice is the administrator.\n` +
          `Sample content created in ${seconds} s. It is removed when this command ends (Ctrl+C).\n`,
        json,
      );
      await ended;
    } finally {
      await app.stop({ graceMs: 1_000 });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
