import type { Config } from '../../config/index.ts';
import { t, translated } from '../../translation/index.ts';

const encryption = translated({
  starttls: 'admin.mail_settings.starttls_encrypted_before_anything_is_sent',
  implicit: 'admin.mail_settings.tls_from_the_start',
  none: 'none',
});
const usualPorts = { starttls: 587, implicit: 465, none: 25 };

/** The mail settings for administrators; never the password. */
export function viewMailSettings({ mail }: Pick<Config, 'mail'>): { name: string; value: string }[] {
  const { host, from } = mail;
  const password =
    mail.passwordFile === null
      ? mail.password === null
        ? t('admin.mail_settings.no_password')
        : t('admin.mail_settings.with_a_password')
      : t('admin.mail_settings.password_in_file', { file: mail.passwordFile });
  return [
    {
      name: t('admin.mail_settings.mail_server'),
      value:
        host === null
          ? t('admin.mail_settings.not_set')
          : t('admin.mail_settings.host_and_port', { host, port: String(mail.port ?? usualPorts[mail.tls]) }),
    },
    { name: t('admin.mail_settings.encryption'), value: encryption[mail.tls] },
    {
      name: t('admin.mail_settings.signs_in_as'),
      value: mail.user === null ? t('admin.mail_settings.nobody') : `${mail.user}, ${password}`,
    },
    {
      name: t('admin.mail_settings.sender'),
      value:
        from === null
          ? t('admin.mail_settings.not_set')
          : from.name === null
            ? from.address
            : `${from.name} <${from.address}>`,
    },
    {
      name: t('admin.mail_settings.limits'),
      value: t('admin.mail_settings.max_per_hour_mails_an_hour', {
        max_per_hour: mail.maxPerHour,
        max_per_recipient: mail.maxPerRecipient,
        max_attempts: mail.maxAttempts,
      }),
    },
  ];
}
