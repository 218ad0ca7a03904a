import { option, section } from './define.ts'
import { address, integer, line, number, ratios, secret } from './shapes.ts'

export const payment = section(
  {
    name: 'payment',
    tab: 'system',
    label: { zh: '支付设置', en: 'Payment settings' },
    help: {
      zh: '支付地址、商户 ID 和商户密钥全部填写后即开启在线充值；需要先填写服务器地址。',
      en: 'Online top-up is on when payment address, merchant ID and merchant key are set; it needs the server address.',
    },
    writer: 'root',
  },
  {
    PayAddress: option({
      ...address(),
      label: { zh: '支付地址', en: 'Payment address' },
      help: { zh: '易支付网关的地址。', en: 'Address of the epay gateway.' },
    }),
    EpayId: option({
      ...line(),
      label: { zh: '易支付商户ID', en: 'Epay merchant ID' },
      help: { zh: '网关分配的商户编号。', en: 'Number that the gateway gave to the merchant.' },
    }),
    EpayKey: option({
      ...secret(),
      label: { zh: '易支付商户密钥', en: 'Epay merchant key' },
      help: { zh: '用于签名和校验支付结果，保存后不再显示。', en: 'Signs orders and verifies results; never shown again.' },
    }),
    CustomCallbackAddress: option({
      ...address(),
      label: { zh: '回调地址', en: 'Callback address' },
      help: {
        zh: '网关通知支付结果的地址，留空则使用服务器地址。',
        en: 'Address where the gateway reports results; the server address when empty.',
      },
    }),
    Price: option({
      ...number(7.3, { min: 0.01, max: 1_000_000 }),
      unit: { zh: '元/美元', en: 'CNY per USD' },
      label: { zh: '充值价格', en: 'Top-up price' },
      help: { zh: '充值一美元额度需要支付多少元。', en: 'Money to pay for one US dollar of quota.' },
    }),
    MinTopUp: option({
      ...integer(1, { min: 1, max: 1_000_000 }),
      unit: { zh: '美元', en: 'USD' },
      label: { zh: '最低充值数量', en: 'Minimum top-up' },
      help: { zh: '单次充值的最低数量。', en: 'Least amount of one top-up.' },
    }),
    TopupGroupRatio: option({
      default: { default: 1, vip: 1, svip: 1 },
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '充值分组倍率', en: 'Top-up group ratio' },
      help: {
        zh: '分组名到充值价格倍率的映射，未列出的分组为 1。',
        en: 'What each group pays, as a multiple of the price; groups that are not listed pay the price itself.',
      },
    }),
  },
)
