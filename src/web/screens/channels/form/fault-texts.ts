import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the checks. */
export const faultTexts = defineTexts({
  mappingCircle: ['模型重定向存在循环：{model}', 'The model mapping has a loop at {model}'],
  keyLines: [
    '填了多个密钥，请在上方选择“多密钥渠道”或“批量创建”',
    'You entered multiple keys. Select “Multiple keys” or “Batch create” above.',
  ],
  keyOneLine: ['这里只能填一个密钥；要增加密钥，请打开密钥管理', 'Enter a single key here. To add more, open the key list.'],
  nameRequired: ['请填写渠道名称和渠道密钥！', 'Please enter channel name and key'],
  modelsRequired: ['请至少选择一个模型！', 'Please choose at least one model'],
  urlRequired: ['请填写渠道地址', 'Enter a base URL'],
})
