import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { isDomainError } from '../kernel/index.ts';
import type { Logger } from '../kernel/index.ts';
import { createFrameReader, frame, framesOf, kinds } from './frames.ts';
import { decodeRequest } from './request-json.ts';
import type { ControlParameters, ControlRequest } from './request-json.ts';
import { socketAddress, socketFile } from './socket-path.ts';

/** One session of a control command, as its handler sees it. */
interface ControlSession {
  input: Readable;
  /** Its callbacks apply the client's backpressure. */
  output: Writable;
  writeError(text: string): void;
  /** Bytes moved so far. */
  moved(): { receivedBytes: number; sentBytes: number };
  /** Aborts when the client disconnects, or when the grace period of a stop is over. */
  signal: AbortSignal;
  /** Aborts as soon as the server begins to stop: commands that never end by themselves end here. */
  closing: AbortSignal;
}

/** Handles one control command; resolves with an exit code. A `DomainError` is reported to the client in one line. */
export type ControlCommand = (parameters: ControlParameters, session: ControlSession) => Promise<number>;

interface ControlServer {
  /** Needs the instance lock: the socket of a killed server is replaced. */
  listen(): Promise<void>;
  /** Accepts no new session, waits up to `graceMs` for open ones, then aborts them. */
  stop(options: { graceMs: number }): Promise<void>;
}

interface Needs {
  dataDir: string;
  logger: Logger;
  /** By the name that a request gives. */
  commands: Readonly<Record<string, ControlCommand>>;
}

/** Limit of concurrent sessions: each is a process of this user. */
const maxSessions = 1_000;

/**
 * The control socket in `run/`, for commands beside the server. Only the server's own user can open it, and that user
 * already has access to the data folder.
 */
export function createControlServer({ dataDir, logger, commands }: Needs): ControlServer {
  const sessions = new Map<Socket, Promise<void>>();
  const closing = new AbortController();
  const stopping = new AbortController();
  let server: Server | undefined;

  async function receive(socket: Socket): Promise<void> {
    const { request, session } = await open(socket, { closing: closing.signal, stopping: stopping.signal });
    const command = Object.hasOwn(commands, request.command) ? commands[request.command] : undefined;
    let code = 1;
    try {
      if (command === undefined)
        session.writeError(`This server does not know ${request.command}: it is of another version than the command.`);
      else code = await command(request.parameters, session);
    } catch (error) {
      if (!session.signal.aborted) {
        session.writeError(
          isDomainError(error) ? error.message : 'Something went wrong; the log of the server says what.',
        );
        if (!isDomainError(error)) logger.error('control.fault', { program: request.command, error });
      }
    }
    session.input.destroy();
    await new Promise<void>((resolve) => session.output.end(() => resolve()).once('error', () => resolve()));
    if (!socket.destroyed) socket.end(frame(kinds.end, Buffer.of(code)));
  }

  return {
    async listen() {
      mkdirSync(path.join(dataDir, 'run'), { recursive: true, mode: 0o700 });
      rmSync(socketFile(dataDir), { force: true });
      const listener = createServer((socket) => {
        socket.on('error', (error) => logger.debug('control.socket_error', { error }));
        const done = receive(socket)
          .catch((error: unknown) => {
            logger.debug('control.ended', { error });
            socket.destroy();
          })
          .finally(() => sessions.delete(socket));
        sessions.set(socket, done);
      });
      server = listener;
      listener.maxConnections = maxSessions;
      const { address, used } = socketAddress(dataDir);
      await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(address, resolve)).finally(
        used,
      );
      chmodSync(socketFile(dataDir), 0o600);
    },

    async stop({ graceMs }) {
      if (server === undefined) return;
      closing.abort(new Error('the server stops'));
      const closed = new Promise<void>((resolve) => server!.close(() => resolve()));
      const end = setTimeout(() => {
        stopping.abort(new Error('the server stops'));
        for (const socket of sessions.keys()) socket.destroy();
      }, graceMs);
      await Promise.all(sessions.values());
      await closed;
      clearTimeout(end);
    },
  };
}

/** Waits for the request, then separates input and output from the socket. */
function open(
  socket: Socket,
  { closing, stopping }: { closing: AbortSignal; stopping: AbortSignal },
): Promise<{ request: Required<ControlRequest>; session: ControlSession }> {
  const gone = new AbortController();
  const read = createFrameReader();
  const moved = { receivedBytes: 0, sentBytes: 0 };
  const input = new Readable({
    read: () => void socket.resume(),
    destroy(error, done) {
      // The socket is read even when the input is not wanted: only so is the client's end noticed.
      socket.resume();
      done(error);
    },
  });
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      moved.sentBytes += chunk.length;
      const frames = [...framesOf(kinds.output, chunk)];
      const last = frames.pop();
      for (const each of frames) socket.write(each);
      if (last === undefined) done();
      else socket.write(last, done);
    },
  });
  const signal = AbortSignal.any([gone.signal, stopping]);
  // Users of the streams learn of the end from the signal; an unhandled error would end the process.
  for (const stream of [input, output]) stream.on('error', () => {});
  signal.addEventListener(
    'abort',
    () => {
      input.destroy(signal.reason as Error);
      output.destroy(signal.reason as Error);
    },
    { once: true },
  );

  return new Promise((resolve, reject) => {
    let isOpen = false;
    const leave = (): void => {
      gone.abort(new Error('the client is gone'));
      reject(new Error('the client is gone'));
    };
    socket.once('close', leave).once('end', () => {
      // No client half-closes: one that ends has been killed.
      socket.destroy();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { kind, payload } of read(chunk)) {
          if (kind === kinds.request && !isOpen) {
            isOpen = true;
            const request = decodeRequest(payload.toString('utf8'));
            const writeError = (text: string): void =>
              void (socket.destroyed || socket.write(frame(kinds.stderr, text)));
            resolve({ request, session: { input, output, writeError, moved: () => moved, signal, closing } });
          } else if (input.destroyed) {
          } else if (kind === kinds.input) {
            moved.receivedBytes += payload.length;
            if (!input.push(Buffer.from(payload))) socket.pause();
          } else if (kind === kinds.inputEnd) {
            input.push(null);
            socket.resume();
          }
        }
      } catch (error) {
        reject(error as Error);
        socket.destroy();
      }
    });
  });
}
