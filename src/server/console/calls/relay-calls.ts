import { relayLines } from '../../gateway/relay/http/endpoints.ts'

/** What the calls of the relay do, for the OpenAPI document. Bodies are those of the vendors, whose documentation is named. */

interface RelayCall {
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** The vendor's own description. */
  readonly vendor?: string
  /** A short body to begin with. */
  readonly example?: object
}

const openAi = 'https://platform.openai.com/docs/api-reference'
const anthropic = 'https://docs.claude.com/en/api'
const google = 'https://ai.google.dev/api'

const [chat, responses, messages, gemini, media, text, account, files, batches, tasks] = [
  'OpenAI Chat',
  'OpenAI Responses',
  'Anthropic Messages',
  'Gemini',
  'Images and audio',
  'Embeddings, moderation, rerank',
  'Models and balance',
  'Files',
  'Batches',
  'Drawings, music and videos',
]

type Said = readonly [tag: string, summary: string, vendor?: string]

const said: Readonly<Record<string, Said>> = {
  'POST /v1/chat/completions': [chat, 'Create a chat completion', `${openAi}/chat/create`],
  'POST /v1/completions': [chat, 'Create a completion of a text', `${openAi}/completions/create`],
  'POST /v1/decisions': [chat, 'Choose among options, or score them', `${openAi}/decisions`],
  'POST /v1/responses': [responses, 'Create a response', `${openAi}/responses/create`],
  'POST /v1/responses/compact': [responses, 'Shorten a history', `${openAi}/responses/compact`],
  'POST /v1/responses/input_tokens': [responses, 'Count the tokens of a request', `${openAi}/responses/input-tokens`],
  'GET /v1/responses/{id}': [responses, 'Get a stored response', `${openAi}/responses/get`],
  'DELETE /v1/responses/{id}': [responses, 'Delete a stored response', `${openAi}/responses/delete`],
  'POST /v1/responses/{id}/cancel': [responses, 'Cancel a response in the background', `${openAi}/responses/cancel`],
  'GET /v1/responses/{id}/input_items': [responses, 'List the input of a stored response', `${openAi}/responses/input-items`],
  'POST /v1/messages': [messages, 'Create a message', `${anthropic}/messages`],
  'POST /v1/messages/count_tokens': [messages, 'Count the tokens of a request', `${anthropic}/messages-count-tokens`],
  'POST /v1beta/models/{model}:generateContent': [gemini, 'Generate content', `${google}/generate-content`],
  'POST /v1beta/models/{model}:streamGenerateContent': [gemini, 'Generate content as a stream', `${google}/generate-content`],
  'POST /v1beta/models/{model}:countTokens': [gemini, 'Count the tokens of a request', `${google}/tokens`],
  'POST /v1beta/models/{model}:embedContent': [gemini, 'Create an embedding', `${google}/embeddings`],
  'POST /v1beta/models/{model}:batchEmbedContents': [gemini, 'Create several embeddings', `${google}/embeddings`],
  'POST /v1beta/models/{model}:predict': [gemini, 'Create images', `${google}/models`],
  'POST /v1beta/interactions': [gemini, 'Create an interaction', `${google}/interactions-api`],
  'GET /v1beta/interactions/{id}': [gemini, 'Get a stored interaction', `${google}/interactions-api`],
  'DELETE /v1beta/interactions/{id}': [gemini, 'Delete a stored interaction', `${google}/interactions-api`],
  'POST /v1beta/interactions/{id}/cancel': [gemini, 'Cancel an interaction in the background', `${google}/interactions-api`],
  'POST /v1/embeddings': [text, 'Create embeddings', `${openAi}/embeddings`],
  'POST /v1/moderations': [text, 'Classify content', `${openAi}/moderations`],
  'POST /v1/rerank': [text, 'Order documents by a question', 'https://docs.cohere.com/reference/rerank'],
  'POST /v1/images/generations': [media, 'Create images', `${openAi}/images/create`],
  'POST /v1/images/edits': [media, 'Edit images', `${openAi}/images/createEdit`],
  'POST /v1/images/variations': [media, 'Create variations of an image', `${openAi}/images/createVariation`],
  'POST /v1/audio/speech': [media, 'Create speech', `${openAi}/audio/createSpeech`],
  'POST /v1/audio/transcriptions': [media, 'Write down speech', `${openAi}/audio/createTranscription`],
  'POST /v1/audio/translations': [media, 'Translate speech into English', `${openAi}/audio/createTranslation`],
  'GET /v1/requests/{id}/events': [account, 'Read the stream of an earlier request on, from an event'],
  'POST /v1/requests/{id}/cancel': [account, 'Stop a stream that goes on without its caller'],
  'GET /v1/models': [account, 'List the models of the key', `${openAi}/models/list`],
  'GET /v1/models/{model}': [account, 'Get a model of the key', `${openAi}/models/retrieve`],
  'GET /v1beta/models': [account, 'List the models of the key, for Gemini', `${google}/models`],
  'GET /v1beta/models/{model}': [account, 'Get a model of the key, for Gemini', `${google}/models`],
  'GET /dashboard/billing/subscription': [account, 'Get the limit of the key'],
  'GET /dashboard/billing/usage': [account, 'Get the use of the key'],
  'GET /api/usage/token': [account, 'Get the balance of the key'],
  'GET /api/log/token': [account, 'List the last calls of the key'],
  'POST /v1/files': [files, 'Store a file', `${openAi}/files/create`],
  'GET /v1/files': [files, 'List your files', `${openAi}/files/list`],
  'GET /v1/files/{id}': [files, 'Get a file', `${openAi}/files/retrieve`],
  'DELETE /v1/files/{id}': [files, 'Delete a file', `${openAi}/files/delete`],
  'GET /v1/files/{id}/content': [files, 'Get the content of a file', `${openAi}/files/retrieve-contents`],
  'POST /v1/uploads': [files, 'Begin an upload in parts', `${openAi}/uploads/create`],
  'POST /v1/uploads/{id}/parts': [files, 'Add a part to an upload', `${openAi}/uploads/add-part`],
  'POST /v1/uploads/{id}/complete': [files, 'Make a file of the parts', `${openAi}/uploads/complete`],
  'POST /v1/uploads/{id}/cancel': [files, 'Cancel an upload', `${openAi}/uploads/cancel`],
  'POST /upload/v1beta/files': [files, 'Store a file, for Gemini', `${google}/files`],
  'GET /v1beta/files': [files, 'List your files, for Gemini', `${google}/files`],
  'GET /v1beta/files/{id}': [files, 'Get a file, for Gemini', `${google}/files`],
  'DELETE /v1beta/files/{id}': [files, 'Delete a file, for Gemini', `${google}/files`],
  'GET /v1beta/files/{id}:download': [files, 'Get the content of a file, for Gemini', `${google}/files`],
  'POST /v1/batches': [batches, 'Order a batch of the requests in a file', `${openAi}/batch/create`],
  'GET /v1/batches': [batches, 'List your batches', `${openAi}/batch/list`],
  'GET /v1/batches/{id}': [batches, 'Get the state of a batch', `${openAi}/batch/retrieve`],
  'POST /v1/batches/{id}/cancel': [batches, 'Cancel a batch', `${openAi}/batch/cancel`],
  'POST /v1/messages/batches': [batches, 'Order a batch, for Anthropic', `${anthropic}/creating-message-batches`],
  'GET /v1/messages/batches': [batches, 'List your batches, for Anthropic', `${anthropic}/listing-message-batches`],
  'GET /v1/messages/batches/{id}': [
    batches,
    'Get the state of a batch, for Anthropic',
    `${anthropic}/retrieving-message-batches`,
  ],
  'GET /v1/messages/batches/{id}/results': [
    batches,
    'Get the results of a batch, for Anthropic',
    `${anthropic}/retrieving-message-batch-results`,
  ],
  'POST /v1/messages/batches/{id}/cancel': [batches, 'Cancel a batch, for Anthropic', `${anthropic}/canceling-message-batches`],
  'DELETE /v1/messages/batches/{id}': [batches, 'Delete an ended batch, for Anthropic', `${anthropic}/deleting-message-batches`],
  'POST /v1beta/models/{model}:batchGenerateContent': [batches, 'Order a batch, for Gemini', `${google}/batch-api`],
  'GET /v1beta/batches': [batches, 'List your batches, for Gemini', `${google}/batch-api`],
  'GET /v1beta/batches/{id}': [batches, 'Get a batch and its results, for Gemini', `${google}/batch-api`],
  'POST /v1beta/batches/{id}:cancel': [batches, 'Cancel a batch, for Gemini', `${google}/batch-api`],
  'DELETE /v1beta/batches/{id}': [batches, 'Delete an ended batch, for Gemini', `${google}/batch-api`],
  'GET /mj/task/{id}/fetch': [tasks, 'Get a drawing'],
  'GET /mj/task/{id}/image-seed': [tasks, 'Get the seed of a drawing'],
  'GET /mj/image/{id}': [tasks, 'Get the picture of a drawing'],
  'POST /mj/task/list-by-condition': [tasks, 'Get several drawings'],
  'POST /suno/submit/{act}': [tasks, 'Order a piece of music, or its lyrics'],
  'POST /suno/fetch': [tasks, 'Get several pieces of music'],
  'GET /suno/fetch/{id}': [tasks, 'Get a piece of music'],
  'POST /v1/videos': [tasks, 'Order a video', `${openAi}/videos/create`],
  'GET /v1/videos': [tasks, 'List your videos', `${openAi}/videos/list`],
  'GET /v1/videos/{id}': [tasks, 'Get the state of a video', `${openAi}/videos/retrieve`],
  'DELETE /v1/videos/{id}': [tasks, 'Delete an ended video', `${openAi}/videos/delete`],
  'GET /v1/videos/{id}/content': [tasks, 'Download a video, whole or a range of it', `${openAi}/videos/content`],
  'POST /v1/video/generations': [tasks, 'Order a video, as gateways of this family do'],
  'GET /v1/video/generations/{id}': [tasks, 'Get a video, as gateways of this family do'],
}

const question = { role: 'user', content: 'Hello' }
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }

const examples: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'MODEL', messages: [question] },
  '/v1/completions': { model: 'MODEL', prompt: 'Once upon a time' },
  '/v1/responses': { model: 'MODEL', input: 'Hello' },
  '/v1/messages': { model: 'MODEL', max_tokens: 1000, messages: [question] },
  '/v1beta/models/{model}:generateContent': contents,
  '/v1beta/models/{model}:streamGenerateContent': contents,
  '/v1/embeddings': { model: 'MODEL', input: 'Hello' },
  '/v1/images/generations': { model: 'MODEL', prompt: 'A sluice in the evening' },
  '/v1/audio/speech': { model: 'MODEL', voice: 'alloy', input: 'Hello' },
  '/v1/rerank': { model: 'MODEL', query: 'water', documents: ['sluice', 'stone'] },
}

const drawing = /^POST \/mj\/(?:submit|insight-face)\/(.+)$/

/** The calls of the relay that are described, one address for each: not their other addresses, nor those of the console and of upstreams. */
export function relayCalls(): RelayCall[] {
  return relayLines().flatMap((line) => {
    const act = drawing.exec(line)?.[1]
    const described: Said | undefined = act === undefined ? said[line] : [tasks, `Order a drawing: ${act}`]
    if (!described) return []
    const [method = '', path = ''] = line.split(' ')
    const [tag, summary, vendor] = described
    const example = examples[path]
    return [{ method, path, tag, summary, ...(vendor === undefined ? {} : { vendor }), ...(example ? { example } : {}) }]
  })
}
