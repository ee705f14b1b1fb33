/** The library of ICU messages, loaded with the first message that needs it: `embedded.library('message-format')`. */
export { IntlMessageFormat } from 'intl-messageformat';
