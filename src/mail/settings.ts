import { formatAddress } from '../config/index.ts';
import type { Config, Mailbox } from '../config/index.ts';

/** The settings of `[mail]`, with the defaults that depend on each other. */
export interface MailSettings {
  host: string | null;
  port: number;
  tls: 'starttls' | 'implicit' | 'none';
  user: string | null;
  password: string | null;
  passwordFile: string | null;
  from: Mailbox | null;
  timeoutMs: number;
  connections: number;
  maxAttempts: number;
  maxPerHour: number;
  maxPerRecipient: number;
  /** Public origin of this server, for links and for the domain of Message-ID. */
  baseUrl: string | null;
  /** PEM file of further certificate authorities. */
  caFile: string | null;
}

/** Settings that are sufficient to send mail. */
export type UsableSettings = MailSettings & { host: string; from: Mailbox; baseUrl: string };

/** The ports of RFC 6409, RFC 8314 and RFC 5321. */
const usualPorts = { starttls: 587, implicit: 465, none: 25 };

export function mailSettings({ mail, baseUrl, caFile }: Pick<Config, 'mail' | 'baseUrl' | 'caFile'>): MailSettings {
  return { ...mail, port: mail.port ?? usualPorts[mail.tls], baseUrl, caFile };
}

/** Keys of options that must be set before mail is sent. Empty: mail is on. */
export function missingSettings({ host, from, baseUrl }: MailSettings): string[] {
  return [
    ...(host === null ? ['mail.host'] : []),
    ...(from === null ? ['mail.from'] : []),
    ...(baseUrl === null ? ['base_url'] : []),
  ];
}

export function isUsable(settings: MailSettings): settings is UsableSettings {
  return missingSettings(settings).length === 0;
}

export const serverName = ({ host, port }: UsableSettings): string => formatAddress({ host, port });
