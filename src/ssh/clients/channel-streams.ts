import { Readable, Writable } from 'node:stream';
import type { Connection, ServerChannel } from 'ssh2';
import { isAgreeingOnKeys, socketOf } from './ssh2-internals.ts';

/*
 * Streams for git instead of the channel itself: a pipeline that closes a channel ends the session before the exit
 * status is sent.
 */

/** Bytes buffered in the socket before git is paused. */
const fullSocketBytes = 1_048_576;

interface Around {
  connection: Connection;
  channel: ServerChannel;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Called for every chunk, with its length in bytes. */
  onProgress(bytes: number): void;
}

/** The client's input. Ends on EOF, fails when the connection is lost. */
export function channelInput({ channel, signal, onProgress }: Around): Readable {
  const input = new Readable({
    read: () => void channel.resume(),
    destroy(error, done) {
      channel.off('data', take).off('end', end);
      // Unread bytes would keep ssh2 from ever reporting the channel as closed.
      channel.resume();
      done(error);
    },
  });
  const take = (chunk: Buffer) => {
    onProgress(chunk.length);
    if (!input.push(chunk)) channel.pause();
  };
  const end = () => {
    // ssh2 ends the channel of a lost connection as if the client had finished.
    if (!signal.aborted) input.push(null);
  };
  channel.on('data', take).on('end', end);
  channel.pause();
  breakOnAbort(input, signal);
  return input;
}

/**
 * The client's output. ssh2 only respects the window that the client grants, and a client may grant gigabytes without
 * reading; this stream also waits for the socket.
 *
 * @param stallMs time in milliseconds that the client may keep it waiting
 * @param onStall called once after that time
 */
export function channelOutput(around: Around & { stallMs: number; onStall(): void }): Writable {
  const { connection, channel, signal, onProgress, stallMs, onStall } = around;
  const socket = socketOf(connection);
  let stall: NodeJS.Timeout | undefined;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      stall = setTimeout(onStall, stallMs);
      const sent = (error?: Error | null) => {
        clearTimeout(stall);
        onProgress(chunk.length);
        done(error);
      };
      // ssh2 writes each packet in three parts; corked, they are sent as one.
      socket.cork();
      channel.write(chunk, (error) => (error ? sent(error) : whenDrained(sent)));
      socket.uncork();
    },
    destroy(error, done) {
      clearTimeout(stall);
      done(error);
    },
  });
  const whenDrained = (sent: () => void) => {
    if (isAgreeingOnKeys(connection)) connection.once('rekey', () => whenDrained(sent));
    else if (socket.writableLength >= fullSocketBytes) socket.once('drain', sent);
    else sent();
  };
  breakOnAbort(output, signal);
  return output;
}

function breakOnAbort(stream: Readable | Writable, signal: AbortSignal): void {
  // Users of the stream learn of the abort from the signal; an unhandled error would end the process.
  stream.on('error', () => {});
  const destroy = () => stream.destroy(signal.reason as Error);
  if (signal.aborted) destroy();
  else signal.addEventListener('abort', destroy, { once: true });
}
