import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { runControlCommand, createControlServer } from '../../src/control/index.ts';
import type { ControlCommand } from '../../src/control/index.ts';
import { notFound, silentLogger } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

async function startControlServer(t: Owner, commands: Record<string, ControlCommand>, dataDir = temporaryFolder(t)) {
  const server = createControlServer({ dataDir, logger: silentLogger, commands });
  await server.listen();
  t.teardown(() => server.stop({ graceMs: 0 }));
  const run = async (command: string, input: (Buffer | string)[] = []) => {
    const result = { code: 0, output: '', errors: '' };
    result.code = await runControlCommand(
      dataDir,
      { command, parameters: { word: 'garden' } },
      {
        input: (async function* () {
          yield* input;
        })(),
        output: (chunk) => void (result.output += chunk.toString()),
        writeError: (text) => void (result.errors += text),
      },
    );
    return result;
  };
  return { server, dataDir, run };
}

const echo: ControlCommand = async (parameters, { input, output, writeError }) => {
  output.write(`${String(parameters['word'])}:`);
  let bytes = 0;
  for await (const chunk of input) bytes += (chunk as Buffer).length;
  output.write(String(bytes));
  writeError('a word');
  return 7;
};

t.test('a control command gets its input and returns output, stderr and an exit code', async (t) => {
  const { run, dataDir } = await startControlServer(t, { echo });
  t.same(await run('echo', ['abc', Buffer.alloc(3 * 1024 * 1024)]), {
    code: 7,
    output: `garden:${3 + 3 * 1024 * 1024}`,
    errors: 'a word',
  });
  t.equal(statSync(path.join(dataDir, 'run', 'control.sock')).mode & 0o777, 0o600, 'for its own user alone');
});

t.test(
  'a refusal is reported, an internal error is not; neither it nor an unknown command ends the server',
  async (t) => {
    const { run } = await startControlServer(t, {
      echo,
      refuses: async () => {
        throw notFound('unknown_thing', 'There is no such thing.');
      },
      breaks: async () => {
        throw new Error('a secret of the inside');
      },
    });
    t.match(await run('refuses'), { code: 1, errors: 'There is no such thing.' });
    t.match(await run('breaks'), { code: 1, errors: /log of the server/ });
    t.match(await run('toString'), { code: 1, errors: /another version/ });
    t.equal((await run('echo')).code, 7);
  },
);

t.test('without a server the client is refused, also when a killed one has left its socket', async (t) => {
  const dataDir = temporaryFolder(t);
  t.match(
    await runControlCommand(dataDir, { command: 'echo' }, { output() {}, writeError() {} }).catch(
      (error: unknown) => error,
    ),
    { reason: 'server_not_running' },
  );
  mkdirSync(path.join(dataDir, 'run'));
  writeFileSync(path.join(dataDir, 'run', 'control.sock'), '');
  const { run } = await startControlServer(t, { echo }, dataDir);
  t.equal((await run('echo')).code, 7);
});

t.test('a data folder with a long path has its socket too', async (t) => {
  const { run } = await startControlServer(t, { echo }, path.join(temporaryFolder(t), 'n'.repeat(120)));
  t.equal((await run('echo')).code, 7);
});

t.test('a client that disconnects or floods ends its session; a stop ends endless commands', async (t) => {
  let aborted = 0;
  let started = 0;
  const { dataDir, server } = await startControlServer(t, {
    wait: async (_parameters, { signal }) => {
      started += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted += 1;
      return 0;
    },
    follow: async (_parameters, { closing }) => {
      started += 1;
      await new Promise((resolve) => closing.addEventListener('abort', resolve));
      return 5;
    },
  });
  const request = JSON.stringify({ program: 'wait' });
  const head = Buffer.from([1, 0, 0, 0, request.length]);
  const socket = connect(path.join(dataDir, 'run', 'control.sock'));
  socket.on('error', () => {});
  socket.write(Buffer.concat([head, Buffer.from(request)]));
  await waitUntil(() => started >= 1);
  socket.destroy();
  await waitUntil(() => aborted >= 1);

  const flood = connect(path.join(dataDir, 'run', 'control.sock'));
  flood.on('error', () => {});
  flood.write(Buffer.from([1, 0xff, 0xff, 0xff, 0xff]));
  await new Promise((resolve) => flood.once('close', resolve));

  const following = runControlCommand(dataDir, { command: 'follow' }, { output() {}, writeError() {} });
  await waitUntil(() => started >= 2);
  await server.stop({ graceMs: 10_000 });
  t.equal(await following, 5);
});
