import { answerChat } from './openai-chat.ts'
import { answerResponses } from './openai-responses.ts'
import { Issued } from './transcript.ts'
import { refuse, type VendorRules } from './vendor-server.ts'

/** OpenAI: Chat Completions and Responses at one address, with errors as the vendor writes them. */
export function openAiRules(): VendorRules {
  const issued = new Issued('call_')
  return {
    answer({ path, headers, body }) {
      if (!/^Bearer \S+$/.test(headers.authorization ?? '')) refuse("You didn't provide an API key.", 401)
      if (path === '/v1/chat/completions') return answerChat(issued, body)
      if (path === '/v1/responses') return answerResponses(issued, body)
      return refuse(`Invalid URL (POST ${path})`, 404)
    },
    refusalBody: ({ message }) => ({
      headers: { 'x-request-id': 'req_1' },
      body: { error: { message, type: 'invalid_request_error', param: null, code: null } },
    }),
  }
}
