exports = () => ({ status: "fail" });
