import type { Readable, Writable } from 'node:stream';
import type { PersonViewer } from '../access/index.ts';
import { unauthenticated } from '../kernel/index.ts';
import type { Command } from './parse-command.ts';
import { refusal } from './refusal.ts';
import type { SshRooms } from './rooms.ts';
import { serveGit } from './serve-git.ts';
import { serveSideDoor } from './side-door.ts';

/** Who asks, and the streams to them. */
export interface Client {
  /** The public key, in wire form, that signed this connection in. */
  blob: Buffer;
  address: string;
  /** The port they reached. */
  port: number;
  /** Value of `GIT_PROTOCOL`, already checked. */
  protocol: string | null;
  input: Readable;
  output: Writable;
  /** Writes to their stderr. */
  complain(line: string): void;
  /** Aborts when they are gone. */
  signal: AbortSignal;
}

/** A client, and who they are at this moment. */
export interface Visit extends Client {
  viewer: PersonViewer;
}

/** The only answer to what is not a command; it names nothing of the server. */
const notUnderstood = 'hearth: only git and a few words are understood here; "help" lists them\n';

/**
 * Runs a command and resolves with its exit status; never rejects.
 * @param command `null` for a line that is no command
 */
export async function runCommand(rooms: SshRooms, command: Command | null, client: Client): Promise<number> {
  if (command === null) {
    client.complain(notUnderstood);
    return 1;
  }
  try {
    // Asked again for each command: a connection may outlive its key or its person's rights.
    const owner = await rooms.accounts.viewerOfKey(client.blob, { address: client.address });
    if (owner === null) throw unauthenticated('key_removed', 'This key is no longer accepted.');
    const visit = { ...client, viewer: owner.viewer };
    return command.kind === 'git' ? await serveGit(rooms, command, visit) : await serveSideDoor(rooms, command, visit);
  } catch (error) {
    // Whatever breaks after the client has left broke because of that.
    if (client.signal.aborted) return 1;
    const faultId = rooms.random.uuid().slice(0, 8);
    const { line, exitCode, isFault } = refusal(error, faultId);
    if (isFault) rooms.logger.error('ssh.fault', { faultId, command: command.kind, error });
    client.complain(line);
    return exitCode;
  }
}
