import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { unavailable } from '../kernel/index.ts';
import { createFrameReader, frame, framesOf, kinds } from './frames.ts';
import { encodeRequest } from './request-json.ts';
import type { ControlRequest } from './request-json.ts';
import { socketAddress } from './socket-path.ts';

/** The client's streams. A returned promise applies backpressure to the server until it resolves. */
interface ClientStreams {
  /** Chunks to send; none when omitted. */
  input?: AsyncIterable<Buffer | string>;
  output(chunk: Buffer): Promise<void> | void;
  writeError(text: string): void;
}

/**
 * Runs a control command on the server of a data folder, over a socket that only its user can open. Resolves with the
 * exit code. Throws `server_not_running`, and `server_went_away` when the connection ends early.
 */
export async function runControlCommand(
  dataDir: string,
  request: ControlRequest,
  streams: ClientStreams,
): Promise<number> {
  const socket = await open(dataDir);
  try {
    socket.write(frame(kinds.request, encodeRequest(request)));
    // A lost connection is reported to the caller by the read side.
    void send(socket, streams.input).catch(() => socket.destroy());
    const read = createFrameReader();
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      for (const { kind, payload } of read(chunk)) {
        if (kind === kinds.output) await streams.output(payload);
        else if (kind === kinds.stderr) streams.writeError(payload.toString('utf8'));
        else if (kind === kinds.end) return payload.readUInt8(0);
      }
    }
  } catch (error) {
    if (!isLost(error)) throw error;
  } finally {
    socket.destroy();
  }
  throw unavailable('server_went_away', 'The server stopped before it responded.');
}

async function send(socket: Socket, input: ClientStreams['input']): Promise<void> {
  if (input === undefined) return;
  for await (const chunk of input) {
    for (const each of framesOf(kinds.input, Buffer.from(chunk as string))) {
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
