import type { Outcome } from '../outbox/index.ts';
import { headerText, UnusableMail } from './message.ts';
import { serverName } from './settings.ts';
import type { UsableSettings } from './settings.ts';

export class PasswordFileError extends Error {
  constructor(file: string, cause: unknown) {
    super(`The file ${file} (mail.password_file) cannot be read: ${(cause as NodeJS.ErrnoException).code}.`, { cause });
  }
}

/** The whole mail took too long, although the server may have responded within each step's limit. */
export class MailServerTimeout extends Error {}

/** Errors of nodemailer and of sockets. */
interface SmtpError extends Error {
  code?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

const maxWords = 400;

/**
 * Reason why a mail was not sent, as text with the server's response, and whether another attempt may succeed. The
 * server's permanent errors about this mail or its recipient (RFC 5321 §4.2.1: 5yz) are final. Errors of the server as
 * a whole (connection, TLS, sign-in, sender) are retried, because an administrator can fix them in the meantime.
 */
export function describeFailure(failure: unknown, settings: UsableSettings): Outcome {
  if (failure instanceof UnusableMail) return { error: failure.message, mayRetry: false };
  if (failure instanceof PasswordFileError) return { error: failure.message, mayRetry: true };
  const error = failure as SmtpError;
  const { responseCode = 0, command = '' } = error;
  const isFinal = responseCode >= 500 && (/^(RCPT|DATA)/.test(command) || responseCode === 552);
  return { error: describe(error, settings), mayRetry: !isFinal };
}

function describe(error: SmtpError, settings: UsableSettings): string {
  const server = serverName(settings);
  const reply = error.response ? headerText(error.response).slice(0, maxWords) : null;
  const { responseCode = 0, command = '' } = error;
  if (error.code === 'EAUTH' || error.code === 'ENOAUTH')
    return `${server} does not accept mail.user and its password${reply === null ? '' : `: ${reply}`}`;
  if (command === 'STARTTLS')
    return `${server} does not offer STARTTLS, so nothing was sent. If it expects TLS from the start, set mail.tls to implicit.`;
  if (reply !== null && responseCode >= 500)
    return /^(RCPT|DATA)/.test(command) ? `${server} refused it: ${reply}` : `${server} refuses mails: ${reply}`;
  if (reply !== null && responseCode >= 400) return `${server} asks to try later: ${reply}`;
  const words = headerText(error.message).slice(0, maxWords);
  if (/certificate|altnames/i.test(words))
    return `The certificate of ${server} is not accepted: ${words}. Use the name in the certificate as mail.host, or name its authority with ca_file.`;
  if (/wrong version number|packet length too long/i.test(words))
    return `${server} does not speak TLS from the start: set mail.tls to starttls.`;
  if (/ECONNREFUSED/.test(words)) return `${server} refuses connections: is a mail server running on that port?`;
  if (error.code === 'EDNS' || /ENOTFOUND|EAI_AGAIN/.test(words))
    return `The name ${settings.host} cannot be resolved.`;
  if (error instanceof MailServerTimeout || error.code === 'ETIMEDOUT')
    return `${server} took longer than ${settings.timeoutMs / 1000} seconds.`;
  return `The connection to ${server} failed: ${words}`;
}
