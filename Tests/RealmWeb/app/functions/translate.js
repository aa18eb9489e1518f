const words = { fr_en: { bonjour: "hello" }, en_fr: { hello: "bonjour" } };

exports = (sentence, languages) => {
  if (!words[languages]) throw new Error("unknown languages");
  return words[languages][sentence] || "?";
};
