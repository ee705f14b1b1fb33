/** The settings of each proxy for copying, one line each. `packaging/` has complete files. */
const lines = (nginx: string, caddy: string, traefik: string): string =>
  [`nginx    ${nginx}`, `Caddy    ${caddy}`, `Traefik  ${traefik}`].join('\n');

const asItIs = 'does so by default: remove the directive that changes it';

export const remedies = {
  untrusted:
    'let the proxy send the whole chain; to trust your own certificate or authority, copy it to /etc/hearth/authority.pem and set it at the top of hearth.toml, above [http]: ca_file = "/etc/hearth/authority.pem"',
  noTls: lines(
    'listen 443 ssl; with ssl_certificate and ssl_certificate_key',
    'does it have a certificate for this name yet? check journalctl -u caddy; for a name that is not public: tls internal',
    'tls: {}   (of the router), and a certificate for this name: check its log',
  ),
  host: lines(
    'proxy_set_header Host $http_host;',
    'remove: header_up Host …',
    'passHostHeader: true   (in the loadBalancer of the service)',
  ),
  scheme: lines(
    'proxy_set_header X-Forwarded-Proto $scheme;',
    'remove: header_up X-Forwarded-Proto …; behind another proxy: servers { trusted_proxies static ADDRESS }',
    'forwardedHeaders: { trustedIPs: [ADDRESS] }   (of the entry point, behind another proxy)',
  ),
  clients: lines('proxy_set_header X-Forwarded-For $remote_addr;', asItIs, asItIs),
  path: lines(
    'proxy_pass http://127.0.0.1:3000;   (without a path or trailing slash)',
    'remove: rewrite, uri, handle_path',
    'remove: stripPrefix, replacePath; and set sanitizePath: false for the entry point (http)',
  ),
  bodyTooLarge: lines(
    'client_max_body_size 0;',
    'remove: request_body { max_size … }',
    'remove the buffering middleware; readTimeout: 1h (transport.respondingTimeouts of the entry point)',
  ),
  requestsBuffered: lines(
    'proxy_request_buffering off;   with proxy_http_version 1.1;',
    'remove: request_buffers',
    'remove the buffering middleware',
  ),
  responsesBuffered: lines(
    'proxy_buffering off;',
    'flush_interval -1   (in reverse_proxy)',
    'responseForwarding: { flushInterval: "-1" }   (of the loadBalancer)',
  ),
  bodyChanged: lines(
    'remove: sub_filter and other filters below location /',
    'remove: replace, encode',
    'remove middlewares that rewrite bodies',
  ),
  loginWall: lines(
    'remove auth_basic and auth_request for /ap/, /.well-known/ and /git/',
    'the same for basic_auth and forward_auth',
    'the same for the basicAuth and forwardAuth middlewares',
  ),
};
