import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { getCACertificates } from 'node:tls';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { ComposedMail } from './compose.ts';
import { MailServerTimeout, PasswordFileError } from './failure.ts';
import type { MailSettings, UsableSettings } from './settings.ts';

/** Time after which an idle connection is closed: a queue sends faster, and servers dislike idle connections. */
const idleMs = 3_000;
/** Many servers end a connection after a hundred mails. */
const maxMailsPerConnection = 100;

interface Open {
  connection: SMTPConnection;
  mails: number;
  idleTimer: NodeJS.Timeout | null;
  /** Rejects the running operation when the connection fails or ends. */
  fail: (error: unknown) => void;
}

/** Connections to the configured mail server, reused for mails that follow soon after. */
export interface SmtpConnections {
  /**
   * Sends one mail. @returns the server's response. Throws errors of nodemailer, `MailServerTimeout`,
   * `PasswordFileError`.
   */
  send(mail: ComposedMail, signal?: AbortSignal): Promise<string>;
  close(): void;
}

export function createSmtpConnections(settings: MailSettings): SmtpConnections {
  const idle: Open[] = [];
  const all = new Set<SMTPConnection>();

  function forget(open: Open): void {
    if (open.idleTimer !== null) clearTimeout(open.idleTimer);
    const at = idle.indexOf(open);
    if (at >= 0) idle.splice(at, 1);
    all.delete(open.connection);
  }

  async function connect(usable: UsableSettings, opened: (connection: SMTPConnection) => void): Promise<Open> {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const password = readPassword(usable);
    const { host, port, tls, timeoutMs } = usable;
    const connection = new Connection({
      host,
      port,
      secure: tls === 'implicit',
      // Never falls back to plain text: anyone on the network path could remove STARTTLS from the server's extensions.
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      name: helloName(new URL(usable.baseUrl).hostname),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      maxResponseSize: 64 * 1024,
      tls: { minVersion: 'TLSv1.2', ...trusted(usable.caFile) },
    });
    const open: Open = { connection, mails: 0, idleTimer: null, fail: () => {} };
    all.add(connection);
    connection.on('error', (error: unknown) => onEnd(open, error));
    connection.on('end', () => onEnd(open, closedEarly()));
    opened(connection);
    await on(open, (done) => connection.connect(done));
    const { user } = usable;
    if (user !== null) await on(open, (done) => connection.login({ user, pass: password ?? '' }, done));
    return open;
  }

  function onEnd(open: Open, error: unknown): void {
    forget(open);
    open.fail(error);
  }

  /** One step on a connection; a failed step closes the connection. */
  async function on<Result>(
    open: Open,
    step: (done: (error?: unknown, result?: Result) => void) => void,
  ): Promise<Result | undefined> {
    try {
      return await new Promise<Result | undefined>((resolve, reject) => {
        open.fail = reject;
        step((error, result) => (error ? reject(error) : resolve(result)));
      });
    } catch (error) {
      forget(open);
      open.connection.close();
      throw error;
    } finally {
      open.fail = () => {};
    }
  }

  async function sendOn(open: Open, mail: ComposedMail): Promise<string> {
    const envelope = { from: mail.from, to: [mail.to], size: mail.raw.length };
    const sent = await on<{ response: string }>(open, (done) => open.connection.send(envelope, mail.raw, done));
    open.mails += 1;
    returnToPool(open);
    return sent!.response;
  }

  function returnToPool(open: Open): void {
    const { connection } = open;
    const quit = (): void => {
      forget(open);
      connection.quit();
    };
    if (open.mails >= maxMailsPerConnection || connection.destroyed) return quit();
    open.idleTimer = setTimeout(quit, idleMs);
    open.idleTimer.unref();
    idle.push(open);
  }

  return {
    async send(mail, signal) {
      const usable = settings as UsableSettings;
      let current: SMTPConnection | null = null;
      const work = async (): Promise<string> => {
        const reused = idle.pop();
        if (reused !== undefined) {
          if (reused.idleTimer !== null) clearTimeout(reused.idleTimer);
          current = reused.connection;
          try {
            return await sendOn(reused, mail);
          } catch (error) {
            // The server may have closed an idle connection; nothing was sent on it then.
            if (!isStale(error)) throw error;
          }
        }
        return sendOn(await connect(usable, (connection) => (current = connection)), mail);
      };
      const { promise: ended, reject } = Promise.withResolvers<never>();
      const end = (reason: unknown): void => {
        reject(reason);
        if (current !== null) all.delete(current);
        current?.close();
      };
      const onAbort = (): void => end(signal?.reason);
      if (signal?.aborted) throw signal.reason;
      signal?.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => end(new MailServerTimeout()), settings.timeoutMs);
      const working = work();
      working.catch(() => {});
      try {
        return await Promise.race([working, ended]);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },
    close() {
      for (const open of [...idle]) forget(open);
      for (const connection of all) connection.close();
      all.clear();
    },
  };
}

/** The host name for EHLO; an address as the literal of RFC 5321 §4.1.3, because servers refuse a bare one. */
function helloName(hostname: string): string {
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 4 ? `[${address}]` : isIP(address) === 6 ? `[IPv6:${address}]` : address;
}

const closedEarly = (): Error => Object.assign(new Error('Connection closed'), { code: 'ECONNECTION' });

/** A failure on a reused connection before the message itself was sent. */
function isStale(error: unknown): boolean {
  const { command, responseCode } = error as { command?: string; responseCode?: number };
  return command !== 'DATA' && (responseCode === undefined || responseCode === 421);
}

/** Read at each connection, so that a new password needs no restart. */
function readPassword({ password, passwordFile }: MailSettings): string | null {
  if (passwordFile === null) return password;
  try {
    return readFileSync(passwordFile, 'utf8').split(/\r?\n/)[0]!;
  } catch (cause) {
    throw new PasswordFileError(passwordFile, cause);
  }
}

function trusted(caFile: string | null): { ca?: string[] } {
  return caFile === null ? {} : { ca: [...getCACertificates('default'), readFileSync(caFile, 'utf8')] };
}
