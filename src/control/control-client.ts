import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { unavailable } from '../kernel/index.ts';
import { createFrameReader, frame, framesOf, kinds } from './frames.ts';
import { socketAddress } from './socket-path.ts';

/** What is asked of the running server. */
export interface ControlRequest {
  /** The program of the server that answers: `ssh.shell`, `cron.run`. */
  program: string;
  [field: string]: unknown;
}

/** The near end of a conversation. A promise holds the other side up until it is kept. */
export interface ClientStreams {
  /** Pieces to send; none when left out. */
  input?: AsyncIterable<Buffer | string>;
  output(chunk: Buffer): Promise<void> | void;
  complain(text: string): void;
}

/**
 * Talks with the server that runs on a data folder, over a socket that only its user can open.
 * Resolves with the exit code of what was asked.
 * Refuses `server_not_running`, and `server_went_away` when it ends meanwhile.
 */
export async function runControlCommand(dataDir: string, ask: ControlRequest, near: ClientStreams): Promise<number> {
  const socket = await open(dataDir);
  try {
    socket.write(frame(kinds.request, JSON.stringify(ask)));
    // Whoever waits for the answer learns of a lost connection there.
    void send(socket, near.input).catch(() => socket.destroy());
    const read = createFrameReader();
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      for (const { kind, payload } of read(chunk)) {
        if (kind === kinds.output) await near.output(payload);
        else if (kind === kinds.complaint) near.complain(payload.toString('utf8'));
        else if (kind === kinds.end) return payload.readUInt8(0);
      }
    }
  } catch (error) {
    if (!isLost(error)) throw error;
  } finally {
    socket.destroy();
  }
  throw unavailable('server_went_away', 'The server ended before it had answered.');
}

async function send(socket: Socket, input: ClientStreams['input']): Promise<void> {
  if (input === undefined) return;
  for await (const piece of input) {
    for (const each of framesOf(kinds.input, Buffer.from(piece as string))) {
      if (!socket.write(each)) await drained(socket);
      if (socket.destroyed) return;
    }
  }
  socket.write(frame(kinds.inputEnd));
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      socket.off('drain', go).off('close', go);
      resolve();
    };
    socket.on('drain', go).on('close', go);
  });
}

function open(dataDir: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: unknown): void => {
      reject(unavailable('server_not_running', `No Hearth server is running in ${dataDir}.`, { cause }));
    };
    try {
      const { address, used } = socketAddress(dataDir);
      const socket = connect(address);
      const fail = (error: Error): void => {
        used();
        refuse(error);
      };
      socket.once('error', fail).once('connect', () => {
        used();
        socket.off('error', fail);
        resolve(socket);
      });
    } catch (error) {
      refuse(error);
    }
  });
}

function isLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
