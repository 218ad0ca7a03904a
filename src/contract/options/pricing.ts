import { longCacheLifetimes } from '../usage.ts'
import { option, section } from './define.ts'
import { cacheWriteFactors, tierFactors, toolPrices } from './extra-prices.ts'
import { choice, link, message, number, ratios, toggle } from './shapes.ts'
import { videoPrices } from './video-prices.ts'

export const priceUpdates = section(
  { name: 'price-updates', tab: 'prices', label: { zh: '公开价格的更新', en: 'Public price updates' }, writer: 'root' },
  {
    PriceDataCheckEnabled: option({
      ...toggle(true),
      label: { zh: '每天检查新的公开价格', en: 'Check for newer public prices daily' },
      help: {
        zh: '每天从下面的地址获取最新的公开价格数据。哪些变化自动采用由下一项决定，其余作为提议显示。没有网络时不影响使用。',
        en: 'Fetches the latest public price data from the URL below once a day. The next setting determines which changes apply automatically; the others are proposals. Without a network, nothing changes.',
      },
    }),
    PriceDataApply: option({
      ...choice('cheaper', {
        none: { zh: '全部先询问', en: 'Ask about every change' },
        cheaper: { zh: '新模型和降价', en: 'New models and lower prices' },
        all: { zh: '新模型、降价和涨价', en: 'New models, lower and higher prices' },
      }),
      label: { zh: '自动采用', en: 'Apply automatically' },
      help: {
        zh: '每天检查后自动采用的变化。变为零、下降一半以上、计价单位改变、仅凭相似名称匹配或可能有误的价格始终先询问。本站自定的价格从不改变。',
        en: 'The changes that apply after the daily check. Prices that become zero, fall by more than half, change their unit, match only a similar name, or may be errors are always asked about. Prices set on this site never change.',
      },
    }),
    PriceDataUrl: option({
      ...link(),
      label: { zh: '价格数据地址', en: 'Price data URL' },
      help: {
        zh: '返回 genai-prices 格式 JSON 数据的地址；留空则使用该数据的发布地址。',
        en: 'URL that returns JSON in the genai-prices format. Leave blank to use the address where that data is published.',
      },
    }),
  },
)

const lifetimes: ReadonlySet<string> = new Set(longCacheLifetimes)
const lifetimeNames = longCacheLifetimes.join(', ')

/** The defaults of these maps are in `default-prices.ts`. */
export const prices = section(
  { name: 'prices', tab: 'prices', label: { zh: '模型倍率设置', en: 'Model ratio settings' }, writer: 'admin' },
  {
    PublicPriceDataEnabled: option({
      ...toggle(true),
      label: { zh: '使用公开价格', en: 'Use public prices' },
      help: {
        zh: '没有设置价格的模型，按其渠道类型所属厂商的公开价格计费；多个厂商价格不同时取最贵的。关闭后，这些模型视为没有价格。',
        en: 'Models without a price set here cost the public price of the vendor of the channel type that serves them. If vendors differ, the highest price applies. When off, such models have no price.',
      },
    }),
    ModelPrice: option({
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '模型固定价格', en: 'Model price per call' },
      unit: { zh: '美元/次', en: 'USD per call' },
      help: {
        zh: '一次调用消耗多少美元，优先于模型倍率。',
        en: 'Price of one call in US dollars. Takes precedence over the model ratio.',
      },
    }),
    ModelRatio: option({
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '模型倍率', en: 'Model ratio' },
      help: {
        zh: '输入 Token 的倍率；1 即每百万 Token 2 美元。',
        en: 'Ratio of input tokens. 1 means 2 US dollars per million tokens.',
      },
    }),
    CompletionRatio: option({
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '模型补全倍率', en: 'Completion ratio' },
      help: {
        zh: '输出 Token 相对输入的倍率；未列出的模型使用其系列的内置倍率。',
        en: 'Ratio of output tokens to input tokens. Models that are not listed use the built-in ratio of their family.',
      },
    }),
    CacheRatio: option({
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '缓存读取倍率', en: 'Cache read ratio' },
      help: {
        zh: '命中缓存的输入 Token 相对普通输入的倍率，未列出的模型为 1。',
        en: 'Ratio of cached input tokens to other input tokens. 1 for models that are not listed.',
      },
    }),
    CreateCacheRatio: option({
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '缓存写入倍率', en: 'Cache write ratio' },
      help: {
        zh: '写入缓存（5 分钟）的输入 Token 相对普通输入的倍率，未列出的模型为 1.25；更长的缓存再乘以 CacheWriteFactor。',
        en: 'Ratio of input tokens written to a five-minute cache to other input tokens. 1.25 for models that are not listed. CacheWriteFactor multiplies it for longer lifetimes.',
      },
    }),
    CacheWriteFactor: option({
      default: cacheWriteFactors,
      schema: (z) =>
        ratios(z).refine(
          (entries) => Object.keys(entries).every((key) => lifetimes.has(key.split('/', 1)[0] ?? '')),
          message(`只能包含 ${lifetimeNames}`, `must name ${lifetimeNames} only`),
        ),
      widget: 'ratio-map',
      label: { zh: '长效缓存写入倍率', en: 'Long cache write factor' },
      help: {
        zh: '写入 30m、1h、12h 缓存的价格相对 5 分钟缓存（CreateCacheRatio）的倍率。“时长/模型*”只对名称匹配的模型有效，最长的匹配优先；未列出的时长使用默认值。默认值来自 OpenAI 和 Anthropic 的公开价目表；12 小时的价格未公布，按 1 小时计。',
        en: 'Cost of writing to a 30m, 1h or 12h cache as a multiple of writing to a five-minute cache (CreateCacheRatio). “lifetime/model*” applies to models whose name matches; the longest pattern takes precedence. Lifetimes that are not listed use their defaults from the price lists of OpenAI and Anthropic; 12 hours, which no price list contains, costs the same as one hour.',
      },
    }),
    AudioRatio: option({
      default: {},
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '音频输入倍率', en: 'Audio input ratio' },
      help: {
        zh: '读入的音频 Token 相对文本输入的倍率；未列出的模型使用其系列的内置倍率，否则为 1。',
        en: 'Ratio of audio input tokens to text input tokens. Models that are not listed use the built-in ratio of their family, otherwise 1.',
      },
    }),
    AudioCacheRatio: option({
      default: {},
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '音频缓存读取倍率', en: 'Cached audio ratio' },
      help: {
        zh: '命中缓存的音频 Token 相对文本输入的倍率；未列出的模型为音频输入倍率 × 缓存读取倍率，实时模型为缓存读取倍率。',
        en: 'Ratio of cached audio tokens to text input tokens. For models that are not listed, the audio input ratio times the cache read ratio; for realtime models, the cache read ratio.',
      },
    }),
    AudioCompletionRatio: option({
      default: {},
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '音频补全倍率', en: 'Audio completion ratio' },
      help: {
        zh: '输出的音频 Token 相对读入的音频的倍率，未列出的模型为 2。',
        en: 'Ratio of audio output tokens to audio input tokens. 2 for models that are not listed.',
      },
    }),
    ImageRatio: option({
      default: { 'gpt-image-1': 2 },
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '图片输入倍率', en: 'Image input ratio' },
      help: {
        zh: '上游单独计数的图片输入 Token 相对文本输入的倍率，未列出的模型为 1。',
        en: 'Ratio of image input tokens to text input tokens, if the upstream counts them separately. 1 for models that are not listed.',
      },
    }),
    ImageCacheRatio: option({
      default: {},
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '图片缓存读取倍率', en: 'Cached image ratio' },
      help: {
        zh: '命中缓存的图片 Token 相对文本输入的倍率；未列出的模型为图片输入倍率 × 缓存读取倍率。',
        en: 'Ratio of cached image tokens to text input tokens. For models that are not listed, the image input ratio times the cache read ratio.',
      },
    }),
    ImageCompletionRatio: option({
      default: {},
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '图片补全倍率', en: 'Image completion ratio' },
      help: {
        zh: '输出的图片 Token 相对文本输入的倍率；未列出的模型与补全倍率相同。',
        en: 'Ratio of image output tokens to text input tokens. For models that are not listed, the completion ratio.',
      },
    }),
    VideoCompletionRatio: option({
      default: {},
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '视频补全倍率', en: 'Video completion ratio' },
      help: {
        zh: '输出的视频 Token 相对文本输入的倍率；未列出的模型与补全倍率相同。',
        en: 'Ratio of video output tokens to text input tokens. For models that are not listed, the completion ratio.',
      },
    }),
    VideoPrice: option({
      schema: videoPrices,
      widget: 'video-prices',
      label: { zh: '视频价格', en: 'Video prices' },
      help: {
        zh: '按秒或按条，按分辨率和有无声音定价；优先于该模型的其他价格。模型名可用 *，最长的匹配优先。第一行是请求未指明时的规格。',
        en: 'Prices by second or by clip, by resolution and sound; they take precedence over the other prices of a model. Names may have an asterisk; the longest match takes precedence. The first line is what a request gets that names nothing.',
      },
    }),
    WebSearchPrice: option({
      ...number(0.01, { min: 0, max: 100 }),
      label: { zh: '联网搜索价格', en: 'Web search price' },
      unit: { zh: '美元/次', en: 'USD each' },
      help: {
        zh: '上游为一次请求进行并单独计费的每次联网搜索的价格。',
        en: 'Price of each web search that the upstream runs for a request and bills separately. ToolPrice can set other prices by model.',
      },
    }),
    ToolPrice: option({
      default: toolPrices,
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '工具单次价格', en: 'Tool price per call' },
      unit: { zh: '美元/次', en: 'USD per call' },
      help: {
        zh: '上游运行并按次计费的工具，例如 file_search。“工具/模型*”只对名称匹配的模型有效，最长的匹配优先。0 表示免费；未列出的托管工具会被拒绝。只有回复才知道的按次、按件费用（例如 Perplexity 的 search_request_low）也在这里。默认值来自各厂商的公开价目表。',
        en: 'Tools that the upstream runs and bills per call, e.g. file_search. “tool/model*” applies to models whose name matches; the longest pattern takes precedence. 0 is free. Hosted tools that are not listed are refused. Fees by request or piece that only the reply tells, e.g. search_request_low of Perplexity, are here too. The defaults are from the price lists of the vendors.',
      },
    }),
    TierFactor: option({
      default: tierFactors,
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '服务等级倍率', en: 'Service tier factor' },
      help: {
        zh: 'service_tier、speed、inference_geo 的取值到 Token 费用倍率的映射，例如 priority。“等级/模型*”只对名称匹配的模型有效，最长的匹配优先。按回复中实际的等级计费；没有倍率的更贵等级会从请求中移除。默认值来自 OpenAI、Anthropic 和 Google 的公开价目表。',
        en: 'Cost of tokens in a service tier (a value of service_tier, speed or inference_geo, e.g. priority) as a multiple of their price. “tier/model*” applies to models whose name matches; the longest pattern takes precedence. The tier that served the request is charged. More expensive tiers without a factor are removed from requests. The defaults are from the price lists of OpenAI, Anthropic and Google.',
      },
    }),
  },
)
