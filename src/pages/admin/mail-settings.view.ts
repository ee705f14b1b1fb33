import type { Config } from '../../config/index.ts';

const encryption = {
  starttls: 'STARTTLS: encrypted before anything is sent',
  implicit: 'TLS from the start',
  none: 'none',
};
const usualPorts = { starttls: 587, implicit: 465, none: 25 };

/** The settings of mail as an administrator reads them; never the password. */
export function viewMailSettings({ mail }: Pick<Config, 'mail'>): { name: string; value: string }[] {
  const { host, from } = mail;
  const password =
    mail.passwordFile === null
      ? mail.password === null
        ? 'no password'
        : 'with a password'
      : `password in ${mail.passwordFile}`;
  return [
    { name: 'Mail server', value: host === null ? 'not set' : `${host}, port ${mail.port ?? usualPorts[mail.tls]}` },
    { name: 'Encryption', value: encryption[mail.tls] },
    { name: 'Signs in as', value: mail.user === null ? 'nobody' : `${mail.user}, ${password}` },
    {
      name: 'Sender',
      value: from === null ? 'not set' : from.name === null ? from.address : `${from.name} <${from.address}>`,
    },
    {
      name: 'Limits',
      value: `${mail.maxPerHour} mails an hour, ${mail.maxPerRecipient} of them to one address; ${mail.maxAttempts} attempts`,
    },
  ];
}
