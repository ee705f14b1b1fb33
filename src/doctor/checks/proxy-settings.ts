/** The settings of each proxy for copying, one line each. `packaging/` has complete files. */
const lines = (nginx: string, caddy: string, traefik: string): string =>
  [`nginx    ${nginx}`, `Caddy    ${caddy}`, `Traefik  ${traefik}`].join('\n');

const asItIs = 'does so by itself: take away what changes it';

export const remedies = {
  untrusted:
    'let the proxy send the whole chain; to trust a certificate or an authority of your own, copy it to /etc/hearth/authority.pem and name that at the top of hearth.toml, above [http]: ca_file = "/etc/hearth/authority.pem"',
  noTls: lines(
    'listen 443 ssl; with ssl_certificate and ssl_certificate_key',
    'has it a certificate for this name yet? journalctl -u caddy tells; for a name that is not public: tls internal',
    'tls: {}   (of the router), and a certificate for this name: its log tells',
  ),
  host: lines(
    'proxy_set_header Host $http_host;',
    'take away: header_up Host …',
    'passHostHeader: true   (in the loadBalancer of the service)',
  ),
  scheme: lines(
    'proxy_set_header X-Forwarded-Proto $scheme;',
    'take away: header_up X-Forwarded-Proto …; behind another proxy: servers { trusted_proxies static ADDRESS }',
    'forwardedHeaders: { trustedIPs: [ADDRESS] }   (of the entry point, behind another proxy)',
  ),
  clients: lines('proxy_set_header X-Forwarded-For $remote_addr;', asItIs, asItIs),
  path: lines(
    'proxy_pass http://127.0.0.1:3000;   (no path and no slash behind it)',
    'take away: rewrite, uri, handle_path',
    'take away: stripPrefix, replacePath; and set sanitizePath: false for the entry point (http)',
  ),
  bodyTooLarge: lines(
    'client_max_body_size 0;',
    'take away: request_body { max_size … }',
    'take away the buffering middleware; readTimeout: 1h (transport.respondingTimeouts of the entry point)',
  ),
  requestsBuffered: lines(
    'proxy_request_buffering off;   with proxy_http_version 1.1;',
    'take away: request_buffers',
    'take away the buffering middleware',
  ),
  responsesBuffered: lines(
    'proxy_buffering off;',
    'flush_interval -1   (in reverse_proxy)',
    'responseForwarding: { flushInterval: "-1" }   (of the loadBalancer)',
  ),
  bodyChanged: lines(
    'take away: sub_filter and other filters below location /',
    'take away: replace, encode',
    'take away middlewares that rewrite bodies',
  ),
  loginWall: lines(
    'take away auth_basic and auth_request for /ap/, /.well-known/ and /git/',
    'the same for basic_auth and forward_auth',
    'the same for the basicAuth and forwardAuth middlewares',
  ),
};
