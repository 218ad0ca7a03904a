/** The built-in model names of each provider, for the channel form and `/api/models`. Names have no spaces or commas. */
const names = (text: string): readonly string[] => Object.freeze(text.trim().split(/\s+/))

export const models = Object.freeze({
  openai: names(`
    gpt-3.5-turbo gpt-3.5-turbo-0613 gpt-3.5-turbo-1106 gpt-3.5-turbo-0125 gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613
    gpt-3.5-turbo-instruct gpt-4 gpt-4-0613 gpt-4-1106-preview gpt-4-0125-preview gpt-4-32k gpt-4-32k-0613 gpt-4-turbo-preview
    gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4-vision-preview chatgpt-4o-latest gpt-4o gpt-4o-2024-05-13 gpt-4o-2024-08-06
    gpt-4o-2024-11-20 gpt-4o-mini gpt-4o-mini-2024-07-18 gpt-4.5-preview gpt-4.5-preview-2025-02-27 o1-preview
    o1-preview-2024-09-12 o1-mini o1-mini-2024-09-12 o3-mini o3-mini-2025-01-31 o3-mini-high o3-mini-2025-01-31-high
    o3-mini-low o3-mini-2025-01-31-low o3-mini-medium o3-mini-2025-01-31-medium o1 o1-2024-12-17 gpt-4o-audio-preview
    gpt-4o-audio-preview-2024-10-01 gpt-4o-realtime-preview gpt-4o-realtime-preview-2024-10-01
    gpt-4o-realtime-preview-2024-12-17 gpt-4o-mini-realtime-preview gpt-4o-mini-realtime-preview-2024-12-17
    text-embedding-ada-002 text-embedding-3-small text-embedding-3-large text-curie-001 text-babbage-001 text-ada-001
    text-moderation-latest text-moderation-stable text-davinci-edit-001 davinci-002 babbage-002 dall-e-3 whisper-1 tts-1
    tts-1-1106 tts-1-hd tts-1-hd-1106
  `),
  kling: names(`
    kling-v2-6 kling-v2-5-turbo kling-v2-1-master kling-v2-1 kling-v1-6
  `),
  vidu: names(`
    viduq2 viduq2-turbo viduq2-pro viduq1 vidu2.0
  `),
  videoHost: names(`
    sora-2 sora-2-pro
  `),
  ollama: names(`
    llama3-7b
  `),
  palm: names(`
    PaLM-2
  `),
  anthropic: names(`
    claude-instant-1.2 claude-2 claude-2.0 claude-2.1 claude-3-sonnet-20240229 claude-3-opus-20240229 claude-3-haiku-20240307
    claude-3-5-haiku-20241022 claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219
    claude-3-7-sonnet-20250219-thinking
  `),
  baidu: names(`
    ERNIE-4.0-8K ERNIE-3.5-8K ERNIE-3.5-8K-0205 ERNIE-3.5-8K-1222 ERNIE-Bot-8K ERNIE-3.5-4K-0205 ERNIE-Speed-8K
    ERNIE-Speed-128K ERNIE-Lite-8K-0922 ERNIE-Lite-8K-0308 ERNIE-Tiny-8K BLOOMZ-7B Embedding-V1 bge-large-zh bge-large-en
    tao-8k
  `),
  zhipuClassic: names(`
    chatglm_turbo chatglm_pro chatglm_std chatglm_lite
  `),
  ali: names(`
    qwen-turbo qwen-plus qwen-max qwen-max-longcontext text-embedding-v1
  `),
  xunfei: names(`
    SparkDesk SparkDesk-v1.1 SparkDesk-v2.1 SparkDesk-v3.1 SparkDesk-v3.5 SparkDesk-v4.0
  `),
  qihoo360: names(`
    360gpt-turbo 360gpt-turbo-responsibility-8k 360gpt-pro 360gpt2-pro 360GPT_S2_V9 embedding-bert-512-v1 embedding_s1_v1
    semantic_similarity_s1_v1
  `),
  tencent: names(`
    hunyuan-lite hunyuan-standard hunyuan-standard-256K hunyuan-pro
  `),
  gemini: names(`
    gemini-1.5-pro gemini-1.5-flash gemini-1.5-flash-8b gemini-2.0-flash gemini-1.5-pro-latest gemini-1.5-flash-latest
    gemini-2.0-flash-lite-preview gemini-exp-1206 gemini-2.0-flash-exp gemini-2.0-pro-exp gemini-2.0-flash-thinking-exp
    imagen-3.0-generate-002
  `),
  moonshot: names(`
    moonshot-v1-8k moonshot-v1-32k moonshot-v1-128k
  `),
  zhipu: names(`
    glm-4 glm-4v glm-3-turbo glm-4-alltools glm-4-plus glm-4-0520 glm-4-air glm-4-airx glm-4-long glm-4-flash glm-4v-plus
  `),
  perplexity: names(`
    llama-3-sonar-small-32k-chat llama-3-sonar-small-32k-online llama-3-sonar-large-32k-chat llama-3-sonar-large-32k-online
    llama-3-8b-instruct llama-3-70b-instruct mixtral-8x7b-instruct
  `),
  lingyiwanwu: names(`
    yi-large yi-medium yi-vision yi-medium-200k yi-spark yi-large-rag yi-large-turbo yi-large-preview yi-large-rag-preview
  `),
  bedrock: names(`
    claude-instant-1.2 claude-2.0 claude-2.1 claude-3-sonnet-20240229 claude-3-opus-20240229 claude-3-haiku-20240307
    claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-5-haiku-20241022 claude-3-7-sonnet-20250219
  `),
  cohere: names(`
    command-r command-r-plus command-r-08-2024 command-r-plus-08-2024 c4ai-aya-23-35b c4ai-aya-23-8b command-light
    command-light-nightly command command-nightly rerank-english-v3.0 rerank-multilingual-v3.0 rerank-english-v2.0
    rerank-multilingual-v2.0
  `),
  minimax: names(`
    abab6.5-chat abab6.5s-chat abab6-chat abab5.5-chat abab5.5s-chat
  `),
  jina: names(`
    jina-clip-v1 jina-reranker-v2-base-multilingual
  `),
  cloudflare: names(`
    @cf/meta/llama-3.1-8b-instruct @cf/meta/llama-2-7b-chat-fp16 @cf/meta/llama-2-7b-chat-int8
    @cf/mistral/mistral-7b-instruct-v0.1 @hf/thebloke/deepseek-coder-6.7b-base-awq
    @hf/thebloke/deepseek-coder-6.7b-instruct-awq @cf/deepseek-ai/deepseek-math-7b-base
    @cf/deepseek-ai/deepseek-math-7b-instruct @cf/thebloke/discolm-german-7b-v1-awq @cf/tiiuae/falcon-7b-instruct
    @cf/google/gemma-2b-it-lora @hf/google/gemma-7b-it @cf/google/gemma-7b-it-lora @hf/nousresearch/hermes-2-pro-mistral-7b
    @hf/thebloke/llama-2-13b-chat-awq @cf/meta-llama/llama-2-7b-chat-hf-lora @cf/meta/llama-3-8b-instruct
    @hf/thebloke/llamaguard-7b-awq @hf/thebloke/mistral-7b-instruct-v0.1-awq @hf/mistralai/mistral-7b-instruct-v0.2
    @cf/mistral/mistral-7b-instruct-v0.2-lora @hf/thebloke/neural-chat-7b-v3-1-awq @cf/openchat/openchat-3.5-0106
    @hf/thebloke/openhermes-2.5-mistral-7b-awq @cf/microsoft/phi-2 @cf/qwen/qwen1.5-0.5b-chat @cf/qwen/qwen1.5-1.8b-chat
    @cf/qwen/qwen1.5-14b-chat-awq @cf/qwen/qwen1.5-7b-chat-awq @cf/defog/sqlcoder-7b-2 @hf/nexusflow/starling-lm-7b-beta
    @cf/tinyllama/tinyllama-1.1b-chat-v1.0 @hf/thebloke/zephyr-7b-beta-awq
  `),
  siliconflow: names(`
    THUDM/glm-4-9b-chat InstantX/InstantID ByteDance/SDXL-Lightning deepseek-ai/deepseek-llm-67b-chat Qwen/Qwen1.5-14B-Chat
    Qwen/Qwen1.5-7B-Chat Qwen/Qwen1.5-110B-Chat Qwen/Qwen1.5-32B-Chat 01-ai/Yi-1.5-6B-Chat 01-ai/Yi-1.5-9B-Chat-16K
    01-ai/Yi-1.5-34B-Chat-16K THUDM/chatglm3-6b deepseek-ai/DeepSeek-V2-Chat Qwen/Qwen2-72B-Instruct Qwen/Qwen2-7B-Instruct
    Qwen/Qwen2-57B-A14B-Instruct deepseek-ai/DeepSeek-Coder-V2-Instruct Qwen/Qwen2-1.5B-Instruct internlm/internlm2_5-7b-chat
    BAAI/bge-large-en-v1.5 BAAI/bge-large-zh-v1.5 Pro/Qwen/Qwen2-7B-Instruct Pro/Qwen/Qwen2-1.5B-Instruct
    Pro/Qwen/Qwen1.5-7B-Chat Pro/THUDM/glm-4-9b-chat Pro/THUDM/chatglm3-6b Pro/01-ai/Yi-1.5-9B-Chat-16K
    Pro/01-ai/Yi-1.5-6B-Chat Pro/google/gemma-2-9b-it Pro/internlm/internlm2_5-7b-chat Pro/meta-llama/Meta-Llama-3-8B-Instruct
    Pro/mistralai/Mistral-7B-Instruct-v0.2 black-forest-labs/FLUX.1-schnell FunAudioLLM/SenseVoiceSmall
    netease-youdao/bce-embedding-base_v1 BAAI/bge-m3 internlm/internlm2_5-20b-chat Qwen/Qwen2-Math-72B-Instruct
    netease-youdao/bce-reranker-base_v1 BAAI/bge-reranker-v2-m3
  `),
  vertex: names(`
    meta/llama3-405b-instruct-maas claude-instant-1.2 claude-2 claude-2.0 claude-2.1 claude-3-sonnet-20240229
    claude-3-opus-20240229 claude-3-haiku-20240307 claude-3-5-haiku-20241022 claude-3-5-sonnet-20240620
    claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219 claude-3-7-sonnet-20250219-thinking gemini-1.5-pro gemini-1.5-flash
    gemini-1.5-flash-8b gemini-2.0-flash gemini-1.5-pro-latest gemini-1.5-flash-latest gemini-2.0-flash-lite-preview
    gemini-exp-1206 gemini-2.0-flash-exp gemini-2.0-pro-exp gemini-2.0-flash-thinking-exp imagen-3.0-generate-002
  `),
  mistral: names(`
    open-mistral-7b open-mixtral-8x7b mistral-small-latest mistral-medium-latest mistral-large-latest mistral-embed
  `),
  deepseek: names(`
    deepseek-chat deepseek-reasoner
  `),
  xai: names(`
    grok-4 grok-4-fast-reasoning grok-4-fast-non-reasoning grok-code-fast-1 grok-3 grok-3-fast grok-3-mini grok-3-mini-high
    grok-3-mini-low grok-3-mini-fast grok-2-vision
  `),
  moka: names(`
    m3e-large m3e-base m3e-small
  `),
  volcengine: names(`
    Doubao-pro-128k Doubao-pro-32k Doubao-pro-4k Doubao-lite-128k Doubao-lite-32k Doubao-lite-4k Doubao-embedding
  `),
  baiduV2: names(`
    ernie-4.0-8k-latest ernie-4.0-8k-preview ernie-4.0-8k ernie-4.0-turbo-8k-latest ernie-4.0-turbo-8k-preview
    ernie-4.0-turbo-8k ernie-4.0-turbo-128k ernie-3.5-8k-preview ernie-3.5-8k ernie-3.5-128k ernie-speed-8k ernie-speed-128k
    ernie-speed-pro-128k ernie-lite-8k ernie-lite-pro-128k ernie-tiny-8k ernie-char-8k ernie-char-fiction-8k ernie-novel-8k
    deepseek-v3 deepseek-r1 deepseek-r1-distill-qwen-32b deepseek-r1-distill-qwen-14b
  `),
  drawing: names(`
    mj_imagine mj_variation mj_reroll mj_blend mj_upscale mj_describe mj_uploads
  `),
  drawingPlus: names(`
    swap_face mj_imagine mj_variation mj_reroll mj_blend mj_upscale mj_describe mj_zoom mj_shorten mj_modal mj_inpaint
    mj_custom_zoom mj_high_variation mj_low_variation mj_pan mj_uploads
  `),
  music: names(`
    suno_music suno_lyrics
  `),
})

/**
 * The newest model of each family of a vendor, by the public price data of November 2026. Every one of them has a price there, and none has
 * an announced end.
 */
export const newest = Object.freeze({
  openai: names(`
    gpt-6.1-sol gpt-6.1-terra gpt-6-luna gpt-6-astra gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.4-mini gpt-image-2.6-sunburst
    gpt-image-2 gpt-realtime-2 text-embedding-3-small text-embedding-3-large
  `),
  anthropic: names(`
    claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-2
  `),
  gemini: names(`
    gemini-4-argon gemini-4-hydrogen gemini-3.8-flash gemini-3.5-flash-lite gemini-nano-banana-2.1 gemini-embedding-001
  `),
  xai: names(`
    grok-4.7 grok-build-0.1
  `),
  deepseek: names(`
    deepseek-v4-pro deepseek-flash
  `),
  moonshot: names(`
    kimi-k3.1-pro kimi-k3 kimi-k2.7-code
  `),
  mistral: names(`
    mistral-large-4 mistral-medium-latest mistral-small-latest ministral-8b-latest mistral-embed
  `),
  minimax: names(`
    MiniMax-M3 MiniMax-M3.1-Flash
  `),
  zhipu: names(`
    glm-5.3 glm-5.3-flash
  `),
  ali: names(`
    qwen3.8-max qwen3.8-flash qwen3-coder-plus
  `),
  volcengine: names(`
    doubao-seed-2-1-pro-260915 doubao-seed-2-1-lite-260915
  `),
  azure: names(`
    gpt-6.1-sol gpt-6.1-terra gpt-6-luna gpt-6-astra gpt-5.6-sol gpt-5.4-mini gpt-image-2 text-embedding-3-small
    text-embedding-3-large
  `),
  bedrock: names(`
    global.anthropic.claude-opus-5-5 global.anthropic.claude-sonnet-5-5 global.anthropic.claude-haiku-5-5
    global.anthropic.claude-fable-5-2 global.amazon.nova-2-lite-v1:0 meta.llama4-maverick-17b-instruct-v1:0
  `),
  vertex: names(`
    claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-2 gemini-4-argon gemini-3.8-flash gemini-3.5-flash-lite
    gemini-nano-banana-2.1 gemini-embedding-001
  `),
  cohere: names(`
    command-a-03-2025 command-r7b-12-2024 embed-v4.0 rerank-v5.0-pro
  `),
  cloudflare: names(`
    @cf/zai-org/glm-5.3 @cf/moonshotai/kimi-k2.7-code @cf/deepseek-ai/deepseek-v4.1-flash-1017 @cf/qwen/qwen3.8-27b
    @cf/openai/gpt-oss-120b @cf/meta/llama-3.3-70b-instruct-fp8-fast @cf/baai/bge-m3
  `),
})
