// An OpenID provider for tests of signing in: any login is taken, and is the e-mail address. It prints its address when it is up.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import Provider, { interactionPolicy } from 'oidc-provider';

const key = (kid, alg, ...make) => ({ ...generateKeyPairSync(...make).privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' });
const client = (client_id, id_token_signed_response_alg, back = 'callback') => ({
  client_id,
  id_token_signed_response_alg,
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  redirect_uris: [`http://127.0.0.1/${back}`], // on any port, as RFC 8252 has it for native applications
  grant_types: ['authorization_code'],
  response_types: ['code'],
});

// Pages are no native applications, which have to ask for consent each time (RFC 8252, section 8.6); they are here for their ports alone.
const policy = interactionPolicy.base();
policy.get('consent').checks.remove('native_client_prompt');

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [client('rs', 'RS256'), client('es', 'ES256'), client('ed', 'EdDSA'), client('shop', 'RS256'), client('swar-pages', 'RS256', 'signin')],
    interactions: { policy },
    clientBasedCORS: () => true, // pages ask for their tokens themselves
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false, // the e-mail address stands in the ID token
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256', 'EdDSA'] },
    jwks: {
      keys: [
        key('rs', 'RS256', 'rsa', { modulusLength: 2048 }),
        key('es', 'ES256', 'ec', { namedCurve: 'P-256' }),
        key('ed', 'EdDSA', 'ed25519'),
      ],
    },
    cookies: { keys: ['tests'] },
    pkce: { required: () => true },
    findAccount: (ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: !id.startsWith('unverified') }),
    }),
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
process.stdin.on('end', () => process.exit()).resume(); // ends with the test, however that ends
